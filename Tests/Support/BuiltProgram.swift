import Foundation

/// A program of this package, built together with the tests.
public enum BuiltProgram {
    /// Beside the test bundle, wherever the build put both; `nil` where it is not. `PENSTOCK_PROGRAMS` names a folder that is
    /// looked into first, for long tests of programs that are built for release.
    public static func url(_ name: String) -> URL? {
        let named = ProcessInfo.processInfo.environment["PENSTOCK_PROGRAMS"].map { URL(fileURLWithPath: $0) }
        let bundles = Bundle.allBundles.filter { $0.bundlePath.hasSuffix(".xctest") }.map(\.bundleURL)
        let programs = [Bundle.main.bundleURL, URL(fileURLWithPath: CommandLine.arguments[0])]
        let folders =
            [named].compactMap(\.self) + (bundles + programs).flatMap { [$0, $0.deletingLastPathComponent()] }
        return folders.map { $0.appendingPathComponent(name) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) && !isFolder($0) }
    }

    private static func isFolder(_ url: URL) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) && isFolder.boolValue
    }
}
