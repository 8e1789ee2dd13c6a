import Foundation

/// Makes the three standard streams safe to use.
enum StandardStreams {
    static func prepare() {
        // A reader that goes away is an error of the write, not the end of the program.
        signal(SIGPIPE, SIG_IGN)
        fillGaps()
    }

    /// A stream that is closed would give its number to the next socket, and the body would be written into it. Its place
    /// is taken by one that can be read and not written.
    private static func fillGaps() {
        for descriptor in Int32(0)...2 where fcntl(descriptor, F_GETFD) == -1 {
            _ = open("/dev/null", O_RDONLY)
        }
    }
}
