// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]

let package = Package(
    name: "Penstock",
    platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        .library(name: "PenstockCore", targets: ["PenstockCore"]),
        .library(name: "PenstockCurl", targets: ["PenstockCurl"]),
    ],
    targets: [
        .target(name: "PenstockCore", swiftSettings: strict),
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .target(
            name: "PenstockCurl",
            dependencies: ["PenstockCore", .target(name: "CCurl", condition: .when(platforms: [.linux]))],
            swiftSettings: strict),
        .testTarget(name: "PenstockCurlTests", dependencies: ["PenstockCurl"], swiftSettings: strict),
    ]
)
