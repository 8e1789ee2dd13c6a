#if !canImport(Darwin)
    import Foundation

    /// Tells one start of the machine from another one.
    enum MachineStart {
        /// The kernel's own name for it; `nil` where it does not tell.
        static let id: String? = {
            let file = URL(fileURLWithPath: "/proc/sys/kernel/random/boot_id")
            guard let text = try? String(contentsOf: file, encoding: .utf8) else { return nil }
            return text.trimmingCharacters(in: .whitespacesAndNewlines)
        }()
    }
#endif
