import Foundation
import Penstock

/// Prints each network status on a line, until it is ended, and for a minute at most.
@main
struct NetworkWatcher {
    static func main() async {
        if let failure = Reachability.system.failure { write("failure \(failure)") }
        Thread.detachNewThread {
            sleep(60)
            exit(1)
        }
        for await status in Reachability.system.changes {
            let interfaces = status.interfaces.map(\.rawValue).sorted().joined(separator: "+")
            write("\(status.isReachable ? "reachable" : "unreachable") \(interfaces) expensive=\(status.isExpensive)")
        }
    }

    private static func write(_ line: String) {
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
    }
}
