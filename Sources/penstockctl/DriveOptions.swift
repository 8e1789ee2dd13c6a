import Penstock

/// What `drive` was asked to do, checked.
struct DriveOptions: Sendable {
    let cache: CacheLocation
    let transport: TransportChoice
    let resolver: HostResolver

    static let table = [
        OptionRule(
            names: ["--cache"], placeholder: "memory|FILE", help: "where responses are stored (default memory)"),
        OptionRule(
            names: ["--transport"], placeholder: TransportChoice.names(" | "),
            help: "what carries the requests (default \(TransportChoice.platform.name))"),
        Names.option,
        OptionRule(names: ["-h", "--help"], placeholder: nil, help: "print this text"),
        OptionRule(names: ["--version"], placeholder: nil, help: "print the version"),
    ]

    init(_ arguments: Arguments) throws(UsageError) {
        guard arguments.operands.isEmpty else { throw UsageError("drive takes no arguments but options") }
        cache = CacheLocation(arguments.value("--cache") ?? "memory")
        transport = try TransportChoice.chosen(arguments.value("--transport"))
        resolver = try Names.resolver(arguments)
    }
}
