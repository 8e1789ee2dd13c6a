#if os(Linux)
    import Foundation
    import PenstockCore

    /// Where libcurl reads a request body from. Touched on the loop's thread only.
    protocol CurlBodySource: AnyObject {
        /// Length in bytes, `nil` where the stream's end tells.
        var length: Int? { get }
        /// Whether the last byte was handed out.
        var isFinished: Bool { get }
        /// What a stream threw.
        var failure: (any Error)? { get }

        func read(into buffer: UnsafeMutableRawBufferPointer) -> CurlBodyRead
        /// Goes back to the beginning.
        ///
        /// - Returns: `false` where that is not possible.
        func rewind() -> Bool
        /// Lets go of what is open.
        func close()
    }

    extension CurlBodySource {
        var failure: (any Error)? { nil }
    }

    enum CurlBodyRead {
        case bytes(Int)
        case end
        /// Nothing yet; the source tells the loop when there is.
        case later
        case failed(String)
    }

    /// A body in memory, kept alive for as long as libcurl may read it.
    final class CurlBytesSource: CurlBodySource {
        private let data: Data
        private var offset = 0

        init(_ data: Data) {
            self.data = data
        }

        var length: Int? { data.count }
        var isFinished: Bool { offset == data.count }

        func read(into buffer: UnsafeMutableRawBufferPointer) -> CurlBodyRead {
            let count = min(buffer.count, data.count - offset)
            guard count > 0 else { return .end }
            let start = data.startIndex + offset
            data.copyBytes(to: buffer.bindMemory(to: UInt8.self), from: start..<(start + count))
            offset += count
            return .bytes(count)
        }

        func rewind() -> Bool {
            offset = 0
            return true
        }

        func close() {}
    }

    /// A regular file, read as libcurl asks for it.
    final class CurlFileSource: CurlBodySource {
        private let descriptor: Int32
        private let declared: Int
        private var offset = 0
        private var isOpen = true

        init?(_ url: URL, length: Int) {
            descriptor = open(url.path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { return nil }
            declared = length
        }

        deinit {
            close()
        }

        var length: Int? { declared }
        var isFinished: Bool { offset == declared }

        func read(into buffer: UnsafeMutableRawBufferPointer) -> CurlBodyRead {
            let wanted = min(buffer.count, declared - offset)
            guard wanted > 0 else { return .end }
            var count = pread(descriptor, buffer.baseAddress, wanted, off_t(offset))
            while count < 0, errno == EINTR { count = pread(descriptor, buffer.baseAddress, wanted, off_t(offset)) }
            guard count > 0 else {
                return .failed(count == 0 ? "the file is shorter than it was" : "the file cannot be read")
            }
            offset += count
            return .bytes(count)
        }

        func rewind() -> Bool {
            offset = 0
            return true
        }

        func close() {
            guard isOpen else { return }
            isOpen = false
            Glibc.close(descriptor)
        }
    }
#endif
