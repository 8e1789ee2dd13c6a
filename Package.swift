// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]

let package = Package(
    name: "Penstock",
    platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        .library(name: "PenstockCore", targets: ["PenstockCore"]),
        .library(name: "PenstockTesting", targets: ["PenstockTesting"]),
    ],
    targets: [
        .target(name: "PenstockCore", swiftSettings: strict),
        .target(name: "PenstockTesting", dependencies: ["PenstockCore"], swiftSettings: strict),
        .target(name: "PenstockTestSupport", path: "Tests/Support", swiftSettings: strict),
        .testTarget(
            name: "PenstockTestingTests", dependencies: ["PenstockTesting", "PenstockTestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "PenstockEndToEndTests", dependencies: ["PenstockTestSupport"], swiftSettings: strict),
        .testTarget(
            name: "PenstockPackagingTests", dependencies: ["PenstockTestSupport"], swiftSettings: strict),
    ]
)
