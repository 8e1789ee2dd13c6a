// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]

let package = Package(
    name: "Penstock",
    platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        .library(name: "PenstockCore", targets: ["PenstockCore"])
    ],
    targets: [
        .target(name: "PenstockCore", swiftSettings: strict),
        .testTarget(name: "PenstockEndToEndTests", swiftSettings: strict),
        .testTarget(name: "PenstockPackagingTests", swiftSettings: strict),
    ]
)
