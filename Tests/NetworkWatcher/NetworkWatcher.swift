import Foundation
import Penstock

/// Prints each network status on a line, until its standard input ends.
@main
struct NetworkWatcher {
    static func main() async {
        if let failure = Reachability.system.failure { write("failure \(failure)") }
        let printing = Task {
            for await status in Reachability.system.changes {
                let interfaces = status.interfaces.map(\.rawValue).sorted().joined(separator: "+")
                write(
                    "\(status.isReachable ? "reachable" : "unreachable") \(interfaces) expensive=\(status.isExpensive)")
            }
        }
        while let line = readLine(), line != "quit" {}
        printing.cancel()
    }

    private static func write(_ line: String) {
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
    }
}
