#if os(Linux)
    import Foundation

    /// What a process that was started, and has not begun its program yet, has of a file that is open here: the same open file once
    /// more.
    package struct DescriptorCopies: ~Copyable {
        private let copies: [Int32]

        package init(of file: URL) throws {
            let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
                Int32($0)
            }
            let path = file.resolvingSymlinksInPath().path
            let its = descriptors.filter {
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == path
            }
            copies = its.map { dup($0) }
        }

        package var count: Int { copies.count }

        deinit {
            for copy in copies { close(copy) }
        }
    }
#endif
