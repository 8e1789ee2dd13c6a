#if os(Linux)
    import Foundation
    import PenstockTestSupport
    import Testing

    /// A shell in a network of its own, which it may change as it likes.
    private final class Namespace {
        private let process = Process()
        private let input = Pipe()
        private let output = Pipe()

        /// Where `ip` is, which not every user's own path leads to.
        private static let path = "PATH=$PATH:/usr/sbin:/sbin"

        static let isAllowed: Bool = {
            let script = "\(path); ip link add v0 type veth peer name v1"
            let made = try? Subprocess.runAndWait(
                URL(fileURLWithPath: "/usr/bin/unshare"), ["-rn", "sh", "-c", script])
            return made?.status == 0
        }()

        init(running program: URL) throws {
            process.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
            process.arguments = ["-rn", "sh"]
            process.standardInput = input
            process.standardOutput = output
            process.standardError = FileHandle.nullDevice
            try process.run()
            run("\(Self.path); '\(program.path)' & watcher=$!")
        }

        deinit {
            // Not a signal that can be blocked: what a thread of the pool starts has all others blocked.
            run("kill -9 $watcher; exit")
            try? input.fileHandleForWriting.close()
            process.waitUntilExit()
        }

        func run(_ command: String) {
            try? input.fileHandleForWriting.write(contentsOf: Data("\(command)\n".utf8))
        }

        /// Waits for a line of the program's, without a thread of the pool.
        func wait(for line: String) async -> Bool {
            let handle = output.fileHandleForReading
            return await withCheckedContinuation { continuation in
                DispatchQueue.global().async { continuation.resume(returning: Self.read(handle, until: line)) }
            }
        }

        private static func read(_ handle: FileHandle, until line: String) -> Bool {
            var text = ""
            while true {
                let bytes = handle.availableData
                guard !bytes.isEmpty else { return false }
                text += String(decoding: bytes, as: UTF8.self)
                if text.split(separator: "\n").contains(Substring(line)) { return true }
            }
        }
    }

    /// The kernel itself, in a network that the test makes.
    @Suite(
        .timeLimit(.minutes(5)),
        .enabled(
            if: Namespace.isAllowed, "this system does not let the test make a network namespace (unshare -rn, ip)"))
    struct NetworkNamespaceTests {
        @Test("The status follows the kernel: an interface, its address, its route, and each of them gone")
        func followsTheKernel() async throws {
            let program = try #require(BuiltProgram.url("network-watcher"))
            let namespace = try Namespace(running: program)
            let (reachable, unreachable) = ("reachable wired expensive=false", "unreachable  expensive=false")
            #expect(await namespace.wait(for: unreachable))
            let add =
                "ip addr add 10.9.0.2/24 dev v0; ip link set v0 up; ip link set v1 up; ip route add default via 10.9.0.1"
            namespace.run("ip link add v0 type veth peer name v1; \(add)")
            #expect(await namespace.wait(for: reachable))
            namespace.run("ip route del default")
            #expect(await namespace.wait(for: unreachable))
            namespace.run("ip route add default via 10.9.0.1")
            #expect(await namespace.wait(for: reachable))
            // The kernel says nothing of the routes that go with the link.
            namespace.run("ip link set v0 down")
            #expect(await namespace.wait(for: unreachable))
            namespace.run("ip link set v0 up; ip route add default via 10.9.0.1")
            #expect(await namespace.wait(for: reachable))
            namespace.run("ip link del v0")
            #expect(await namespace.wait(for: unreachable))
        }
    }
#endif
