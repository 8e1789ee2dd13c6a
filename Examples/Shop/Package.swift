// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]

let package = Package(
    name: "Shop",
    platforms: [.macOS(.v15), .iOS(.v18)],
    dependencies: [.package(name: "Penstock", path: "../..")],
    targets: [
        // The app layer: what an app of your own would look like.
        .target(
            name: "ShopKit", dependencies: [.product(name: "Penstock", package: "Penstock")], swiftSettings: strict),

        // The other side of the wire, so that the example needs no network.
        .target(
            name: "ShopServer",
            dependencies: [
                .product(name: "PenstockCore", package: "Penstock"),
                .product(name: "PenstockSecurity", package: "Penstock"),
                .product(name: "PenstockTesting", package: "Penstock"),
            ],
            swiftSettings: strict),

        // Tells the story.
        .executableTarget(
            name: "Shop",
            dependencies: [
                "ShopKit", "ShopServer", .product(name: "Penstock", package: "Penstock"),
                .product(name: "PenstockTesting", package: "Penstock"),
            ],
            swiftSettings: strict),

        .testTarget(
            name: "ShopKitTests",
            dependencies: [
                "Shop", "ShopKit", "ShopServer", .product(name: "Penstock", package: "Penstock"),
                .product(name: "PenstockTesting", package: "Penstock"),
            ],
            swiftSettings: strict),
    ]
)
