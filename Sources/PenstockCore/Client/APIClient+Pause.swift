extension APIClient {
    /// Holds back the calls of a group: of this client and of those derived from it, those that wait to be sent and those that
    /// begin from now on. What is on the wire already goes on, and so does the time of each call. A stored response is still
    /// given out.
    ///
    /// ```swift
    /// client.pause(.tag("feed"))       // while the list is being scrolled
    /// client.resume(.tag("feed"))
    /// ```
    ///
    /// Pausing twice is pausing once. A call that belongs to several groups goes on when none of them is paused.
    public func pause(_ group: CallSelection) {
        state.admissions.pause(group, of: state.lineage)
    }

    /// Lets the calls of a group go on, in their order. Only what was paused by this very client and group ends.
    public func resume(_ group: CallSelection) {
        state.admissions.resume(group, of: state.lineage)
    }
}
