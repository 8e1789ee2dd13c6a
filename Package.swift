// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]

let package = Package(
    name: "Penstock",
    platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        .library(name: "Penstock", targets: ["Penstock"]),
        .library(name: "PenstockCore", targets: ["PenstockCore"]),
        .library(name: "PenstockCurl", targets: ["PenstockCurl"]),
        .library(name: "PenstockURLSession", targets: ["PenstockURLSession"]),
        .library(name: "PenstockTesting", targets: ["PenstockTesting"]),
        .executable(name: "penstockctl", targets: ["penstockctl"]),
    ],
    targets: [
        // What an app imports: the core and the platform's transport.
        .target(
            name: "Penstock",
            dependencies: [
                "PenstockCore",
                .target(name: "PenstockCurl", condition: .when(platforms: [.linux])),
                .target(
                    name: "PenstockURLSession",
                    condition: .when(platforms: [.macOS, .macCatalyst, .iOS, .tvOS, .watchOS, .visionOS])),
            ],
            swiftSettings: strict),
        .target(name: "PenstockCore", swiftSettings: strict),

        // Transports: each links something foreign.
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .target(
            name: "PenstockCurl",
            dependencies: ["PenstockCore", .target(name: "CCurl", condition: .when(platforms: [.linux]))],
            swiftSettings: strict),
        .target(name: "PenstockURLSession", dependencies: ["PenstockCore"], swiftSettings: strict),

        // A program.
        .executableTarget(
            name: "penstockctl",
            dependencies: [
                "Penstock", "PenstockURLSession",
                .target(name: "PenstockCurl", condition: .when(platforms: [.linux])),
            ],
            swiftSettings: strict),

        // Not for apps to ship.
        .target(name: "PenstockTesting", dependencies: ["PenstockCore"], swiftSettings: strict),

        .target(name: "PenstockTestSupport", path: "Tests/Support", swiftSettings: strict),
        .testTarget(
            name: "PenstockCoreTests", dependencies: ["PenstockCore", "PenstockTesting", "PenstockTestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "PenstockCurlTests", dependencies: ["PenstockCurl", "PenstockTesting", "PenstockTestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "PenstockEndToEndTests",
            dependencies: ["Penstock", "PenstockCurl", "PenstockURLSession", "PenstockTesting", "PenstockTestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "PenstockPackagingTests", dependencies: ["PenstockTestSupport"], swiftSettings: strict),
        .testTarget(
            name: "PenstockTestingTests", dependencies: ["PenstockTesting", "PenstockTestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "PenstockTransportTests",
            dependencies: [
                "PenstockCurl", "PenstockURLSession", "PenstockTesting", "PenstockTestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "penstockctlTests", dependencies: ["penstockctl", "PenstockTesting", "PenstockTestSupport"],
            swiftSettings: strict),
    ]
)
