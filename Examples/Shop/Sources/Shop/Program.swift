import Foundation

/// Tells the story on standard output. Exit status 0 when it went as it should, 1 and a message when it did not.
@main
struct Program {
    @MainActor
    static func main() async {
        do {
            try await Story.run { print($0) }
        } catch {
            FileHandle.standardError.write(Data("Shop: \(error)\n".utf8))
            exit(1)
        }
    }
}
