/// The check of what a write has beside what an endpoint has; see ``Endpoint/_checkMembers(_:)``.
extension OutboxEndpoint {
    /// Every member is as it must be.
    public static func _checkMembers(
        ofWrite types: (String, OutboxLane, OutboxFold?, OutboxPolicy, OutboxAnswer, OutboxVerdict?).Type
    ) {}

    /// Every other member is.
    @available(*, unavailable, message: "outboxName is a String")
    public static func _checkMembers<Other>(
        ofWrite types: (Other, OutboxLane, OutboxFold?, OutboxPolicy, OutboxAnswer, OutboxVerdict?).Type
    ) {}

    /// Every other member is.
    @available(*, unavailable, message: "lane is an OutboxLane: OutboxLane(text)")
    public static func _checkMembers<Other>(
        ofWrite types: (String, Other, OutboxFold?, OutboxPolicy, OutboxAnswer, OutboxVerdict?).Type
    ) {}

    /// Every other member is.
    @available(*, unavailable, message: "fold is an OutboxFold?, an optional")
    public static func _checkMembers<Other>(
        ofWrite types: (String, OutboxLane, Other, OutboxPolicy, OutboxAnswer, OutboxVerdict?).Type
    ) {}

    /// Every other member is.
    @available(*, unavailable, message: "outboxPolicy is an OutboxPolicy, and no optional")
    public static func _checkMembers<Other>(
        ofWrite types: (String, OutboxLane, OutboxFold?, Other, OutboxAnswer, OutboxVerdict?).Type
    ) {}

    /// Every other member is.
    @available(*, unavailable, message: "verdict(on:) takes an OutboxAnswer")
    public static func _checkMembers<Other>(
        ofWrite types: (String, OutboxLane, OutboxFold?, OutboxPolicy, Other, OutboxVerdict?).Type
    ) {}

    /// Every other member is.
    @available(*, unavailable, message: "verdict(on:) gives an OutboxVerdict?, an optional")
    public static func _checkMembers<Other>(
        ofWrite types: (String, OutboxLane, OutboxFold?, OutboxPolicy, OutboxAnswer, Other).Type
    ) {}

    /// Not even all but one are.
    @available(
        *, unavailable,
        message:
            "several members have other types than OutboxEndpoint gives them: compare outboxName, lane, fold, outboxPolicy and verdict(on:)"
    )
    public static func _checkMembers<A, B, C, D, E, F>(
        ofWrite types: (A, B, C, D, E, F).Type
    ) {}
}
