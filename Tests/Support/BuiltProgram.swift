import Foundation

/// A program of this package, built together with the tests.
public enum BuiltProgram {
    /// Beside the test bundle, wherever the build put both; `nil` where it is not.
    public static func url(_ name: String) -> URL? {
        let bundles = Bundle.allBundles.filter { $0.bundlePath.hasSuffix(".xctest") }.map(\.bundleURL)
        let programs = [Bundle.main.bundleURL, URL(fileURLWithPath: CommandLine.arguments[0])]
        let folders = (bundles + programs).flatMap { [$0, $0.deletingLastPathComponent()] }
        return folders.map { $0.appendingPathComponent(name) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) && !isFolder($0) }
    }

    private static func isFolder(_ url: URL) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) && isFolder.boolValue
    }
}
