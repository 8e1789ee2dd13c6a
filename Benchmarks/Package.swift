// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v13)],
    dependencies: [.package(name: "Penstock", path: "..")],
    targets: [
        // libcurl with nothing around it: what the others are compared with.
        .target(
            name: "BareCurl", cSettings: [.treatAllWarnings(as: .error)], linkerSettings: [.linkedLibrary("curl")]),

        // SQLite with nothing around it: what the cache on disk is compared with.
        .target(
            name: "BareSQLite", cSettings: [.treatAllWarnings(as: .error)],
            linkerSettings: [.linkedLibrary("sqlite3")]),

        // Holds its answers back, so that calls can be looked at while they wait.
        .target(name: "SlowServer", cSettings: [.treatAllWarnings(as: .error)]),

        // Sends the messages of a WebSocket back.
        .target(
            name: "EchoServer", cSettings: [.treatAllWarnings(as: .error)],
            linkerSettings: [.linkedLibrary("crypto")]),

        // One contender in one process, and the driver that starts them in turn.
        .executableTarget(
            name: "bench",
            dependencies: [
                "BareCurl", "BareSQLite", "EchoServer", "SlowServer",
                .product(name: "PenstockCore", package: "Penstock"),
                .product(name: "PenstockCurl", package: "Penstock"),
                .product(name: "PenstockInspect", package: "Penstock"),
                .product(name: "PenstockSQLite", package: "Penstock"),
            ],
            swiftSettings: strict),
    ]
)
