/// A transport of the package's own. It ends an exchange at once when it is told to, and by the exchange's time-outs, so that a
/// call waits for it and needs no task besides its own. Calls do not wait for any other transport past their own end.
package protocol PromptTransport: Transport {
    /// Whether code of the app's runs in it, as where it has another transport send: then it ends as that one does.
    var runsAppCode: Bool { get }
}

extension PromptTransport {
    package var runsAppCode: Bool { false }
}

extension Transport {
    /// Whether it may not return when it is told to: the app's own, and the package's around one of those.
    package var isAppCode: Bool { (self as? any PromptTransport)?.runsAppCode ?? true }
}
