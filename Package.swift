// swift-tools-version: 6.3
// The sources need Swift 6.3 for `weak let` (SE-0481), and 6.2.3 for `@nonexhaustive` (SE-0487). Built and tested with 6.3.1.
import PackageDescription

let strict: [SwiftSetting] = [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]

let apple: [Platform] = [.macOS, .macCatalyst, .iOS, .tvOS, .watchOS, .visionOS]

let package = Package(
    name: "Penstock",
    platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        .library(name: "Penstock", targets: ["Penstock"]),
        .library(name: "PenstockCore", targets: ["PenstockCore"]),
        .library(name: "PenstockCurl", targets: ["PenstockCurl"]),
        .library(name: "PenstockPublicSuffixes", targets: ["PenstockPublicSuffixes"]),
        .library(name: "PenstockSecurity", targets: ["PenstockSecurity"]),
        .library(name: "PenstockSQLite", targets: ["PenstockSQLite"]),
        .library(name: "PenstockURLSession", targets: ["PenstockURLSession"]),
        .library(name: "PenstockInspect", targets: ["PenstockInspect"]),
        .library(name: "PenstockTesting", targets: ["PenstockTesting"]),
        .executable(name: "penstockctl", targets: ["penstockctl"]),
    ],
    targets: [
        // What an app imports: the core, the platform's transport, the cache on disk, signing, and the vaults.
        .target(
            name: "Penstock",
            dependencies: [
                "PenstockCore", "PenstockInspect", "PenstockPublicSuffixes", "PenstockSecurity", "PenstockSQLite",
                .target(name: "PenstockCurl", condition: .when(platforms: [.linux])),
                .target(name: "PenstockURLSession", condition: .when(platforms: apple)),
            ],
            swiftSettings: strict),
        // Foundation and digests: CryptoKit's, or on Linux those of OpenSSL's libcrypto. Without libssl, which TLS needs alone.
        .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .target(
            name: "PenstockCore", dependencies: [.target(name: "CCrypto", condition: .when(platforms: [.linux]))],
            swiftSettings: strict),
        // Logs, archives, reports and telemetry, made of the events of the core alone. An app may leave it out of what it ships.
        .target(name: "PenstockInspect", dependencies: ["PenstockCore"], swiftSettings: strict),

        // Transports: each links something foreign.
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CCodings", providers: [.apt(["zlib1g-dev", "libbrotli-dev", "libzstd-dev"])]),
        .target(
            name: "PenstockCurl",
            dependencies: [
                "PenstockCore",
                .target(name: "CCurl", condition: .when(platforms: [.linux])),
                .target(name: "CCodings", condition: .when(platforms: [.linux])),
                .target(name: "COpenSSL", condition: .when(platforms: [.linux])),
            ],
            swiftSettings: strict),
        .target(name: "PenstockURLSession", dependencies: ["PenstockCore"], swiftSettings: strict),

        // What needs cryptography, or the system's keys.
        .systemLibrary(name: "CKernelKeyring"),
        .target(
            name: "PenstockSecurity",
            dependencies: [
                "PenstockCore",
                .target(name: "CKernelKeyring", condition: .when(platforms: [.linux])),
                .target(name: "COpenSSL", condition: .when(platforms: [.linux])),
            ],
            swiftSettings: strict),

        // The system's list of public suffixes, for cookies; where a system shows it to no app, one of the package's own.
        .systemLibrary(name: "CPSL", pkgConfig: "libpsl", providers: [.apt(["libpsl-dev"])]),
        .target(
            name: "PenstockPublicSuffixes",
            dependencies: [
                "PenstockCore",
                .target(name: "CPSL", condition: .when(platforms: [.linux])),
                .target(name: "PenstockSuffixRules", condition: .when(platforms: apple)),
            ],
            swiftSettings: strict),
        .target(name: "PenstockSuffixRules", dependencies: ["PenstockCore"], swiftSettings: strict),

        // The store on disk.
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .target(name: "PenstockSQLite", dependencies: ["PenstockCore", "CSQLite"], swiftSettings: strict),

        // A program.
        .executableTarget(
            name: "penstockctl",
            dependencies: [
                "Penstock", "PenstockSQLite", "PenstockURLSession", "PenstockTesting",
                .target(name: "PenstockCurl", condition: .when(platforms: [.linux])),
            ],
            swiftSettings: strict),

        // Not for apps to ship. The fault server speaks TLS and HTTP/2 on Linux. Without a name for `pkg-config`, which SwiftPM
        // would ask for every package that depends on this one: only who builds PenstockTesting needs nghttp2, and is told by
        // the shim when it is missing.
        .systemLibrary(name: "CNGHTTP2"),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .target(
            name: "PenstockTesting",
            dependencies: [
                "PenstockCore", .target(name: "CNGHTTP2", condition: .when(platforms: [.linux])),
                .target(name: "COpenSSL", condition: .when(platforms: [.linux])),
            ],
            swiftSettings: strict),

        .target(name: "PenstockTestSupport", path: "Tests/Support", swiftSettings: strict),
        .testTarget(
            name: "PenstockCoreTests", dependencies: ["PenstockCore", "PenstockTesting", "PenstockTestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "PenstockInspectTests", dependencies: ["PenstockInspect", "PenstockTesting", "PenstockTestSupport"],
            swiftSettings: strict),
        // Makes content for the tests to decode; zlib and libzstd do both.
        .systemLibrary(name: "CBrotliEncoder", path: "Tests/CBrotliEncoder", providers: [.apt(["libbrotli-dev"])]),
        .testTarget(
            name: "PenstockCurlTests",
            dependencies: [
                "PenstockCurl", "PenstockTesting", "PenstockTestSupport", "file-fetcher",
                .target(name: "CCodings", condition: .when(platforms: [.linux])),
                .target(name: "CBrotliEncoder", condition: .when(platforms: [.linux])),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "PenstockEndToEndTests",
            dependencies: [
                "Penstock", "PenstockCurl", "PenstockURLSession", "PenstockTesting", "PenstockTestSupport",
                "upload-writer",
            ],
            swiftSettings: strict),
        // Uploads a file until it is killed.
        .executableTarget(
            name: "upload-writer", dependencies: ["Penstock", "PenstockTestSupport"], path: "Tests/UploadWriter",
            swiftSettings: strict),
        // Prints the network status, in a network of its own.
        .executableTarget(
            name: "network-watcher", dependencies: ["Penstock"], path: "Tests/NetworkWatcher", swiftSettings: strict),
        .testTarget(
            name: "PenstockTests",
            dependencies: [
                "Penstock", "PenstockPublicSuffixes", "PenstockSuffixRules", "PenstockTesting", "PenstockTestSupport",
                "PenstockURLSession", "network-watcher", .target(name: "CPSL", condition: .when(platforms: [.linux])),
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "vault-writer",
            dependencies: [
                "Penstock", "PenstockSQLite", "PenstockURLSession", "PenstockTesting", "PenstockTestSupport",
            ],
            path: "Tests/VaultWriter", swiftSettings: strict),
        .testTarget(
            name: "PenstockPackagingTests", dependencies: ["PenstockTestSupport"], swiftSettings: strict),
        .target(name: "SQLiteCrash", dependencies: ["CSQLite"], path: "Tests/SQLiteCrash"),
        .executableTarget(
            name: "cache-writer", dependencies: ["PenstockSQLite", "PenstockTestSupport"], path: "Tests/CacheWriter",
            swiftSettings: strict),
        .executableTarget(
            name: "outbox-writer", dependencies: ["Penstock", "PenstockSQLite", "PenstockTestSupport"],
            path: "Tests/OutboxWriter", swiftSettings: strict),
        .testTarget(
            name: "PenstockSQLiteTests",
            dependencies: [
                "Penstock", "PenstockSQLite", "PenstockTesting", "PenstockTestSupport", "SQLiteCrash", "cache-writer",
                "outbox-writer",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "PenstockSecurityTests",
            dependencies: [
                "Penstock", "PenstockCurl", "PenstockSecurity", "PenstockSQLite", "PenstockTesting",
                "PenstockTestSupport", "vault-writer",
                .target(name: "CKernelKeyring", condition: .when(platforms: [.linux])),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "PenstockTestingTests", dependencies: ["PenstockCurl", "PenstockTesting", "PenstockTestSupport"],
            swiftSettings: strict),
        // A program whose calls to libcurl and to the system fail at will. Nothing depends on it, for the functions that it
        // replaces would be replaced there as well.
        .target(
            name: "CTorture", dependencies: [.target(name: "CCurl", condition: .when(platforms: [.linux]))],
            path: "Tests/Torture/CTorture"),
        .executableTarget(
            name: "torture", dependencies: ["CTorture", "PenstockCore", "PenstockCurl", "PenstockTestSupport"],
            path: "Tests/Torture/Tool", swiftSettings: strict),
        .testTarget(
            name: "PenstockTortureTests", dependencies: ["PenstockTesting", "PenstockTestSupport"],
            swiftSettings: strict),
        .executableTarget(
            name: "file-fetcher", dependencies: ["PenstockCore", "PenstockCurl", "PenstockTestSupport"],
            path: "Tests/FileFetcher", swiftSettings: strict),
        // What the heap of glibc holds, for the test that nothing is kept.
        .systemLibrary(name: "CHeap", path: "Tests/CHeap"),
        .testTarget(
            name: "PenstockTransportTests",
            dependencies: [
                "PenstockCurl", "PenstockSQLite", "PenstockURLSession", "PenstockTesting", "PenstockTestSupport",
                "file-fetcher",
                .target(name: "CHeap", condition: .when(platforms: [.linux])),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "penstockctlTests", dependencies: ["penstockctl", "PenstockTesting", "PenstockTestSupport"],
            swiftSettings: strict),
    ]
)
