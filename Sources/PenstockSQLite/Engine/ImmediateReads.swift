import CSQLite
import Foundation

/// Has SQLite's reads on a thread fail where they would wait for the disk, so that a look-up that the system's memory answers
/// may stay on a thread that runs tasks, and every other one is made elsewhere.
///
/// SQLite lets a program put a function of its own in the place of each system call (`sqlite3_vfs.xSetSystemCall`,
/// https://www.sqlite.org/c3ref/vfs.html). The one for `pread` asks the kernel for what it has in memory (`RWF_NOWAIT`) while a
/// thread says so here, and is the old one for every other thread, connection and user of SQLite in the process. The failure is an
/// error of reading like any other to SQLite, which forgets the page and goes on with the next statement.
///
/// Only Linux can be asked. Elsewhere, and on file systems that do not know the question (tmpfs, FUSE), nothing is immediate.
enum ImmediateReads {
    enum Verdict: Sendable {
        /// Nothing was waited for.
        case immediate
        /// Something would have been: what was read is not to be used.
        case wouldWait
        /// The file system cannot be asked.
        case unknown
    }

    /// Runs `body`, which uses SQLite on this thread alone and leaves no statement behind that still reads.
    static func run<Output>(_ body: () -> Output) -> (output: Output?, verdict: Verdict) {
        guard let place = ReadOverride.place else { return (nil, .unknown) }
        // The verdict is this call's alone: the thread has its address for no longer.
        var verdict = Verdict.immediate
        return withUnsafeMutablePointer(to: &verdict) { pointer in
            pthread_setspecific(place, pointer)
            defer { pthread_setspecific(place, nil) }
            let output = body()
            return (output, pointer.pointee)
        }
    }
}

/// The function in the place of `pread`.
private enum ReadOverride {
    typealias Read = @convention(c) @Sendable (Int32, UnsafeMutableRawPointer?, Int, Int64) -> Int

    /// Where each thread keeps the address of its verdict. `nil` where SQLite, or the system, has no place for it.
    static let place: pthread_key_t? = {
        guard csqlite_can_read_immediately() != 0, let original, let key, replace(original.name) else { return nil }
        return key
    }()

    private static let key: pthread_key_t? = {
        var key = pthread_key_t()
        return pthread_key_create(&key, nil) == 0 ? key : nil
    }()

    /// Debian's SQLite reads by `pread64`; one that was built otherwise, by `pread`.
    private static let original: (name: String, read: Read)? = {
        guard let vfs = sqlite3_vfs_find(nil), vfs.pointee.iVersion >= 3, let find = vfs.pointee.xGetSystemCall else {
            return nil
        }
        for name in ["pread64", "pread"] {
            if let call = find(vfs, name) { return (name, unsafeBitCast(call, to: Read.self)) }
        }
        return nil
    }()

    private static func replace(_ name: String) -> Bool {
        guard let vfs = sqlite3_vfs_find(nil), let set = vfs.pointee.xSetSystemCall else { return false }
        return set(vfs, name, unsafeBitCast(read, to: sqlite3_syscall_ptr.self)) == SQLITE_OK
    }

    private static let read: Read = { descriptor, buffer, count, offset in
        let place = key.flatMap { pthread_getspecific($0) }
        guard let verdict = place?.assumingMemoryBound(to: ImmediateReads.Verdict.self) else {
            return original?.read(descriptor, buffer, count, offset) ?? -1
        }
        let result = Int(csqlite_read_immediately(descriptor, buffer, Int64(count), offset))
        if result < 0 {
            switch errno {
            case EAGAIN: verdict.pointee = .wouldWait
            case EOPNOTSUPP, ENOSYS, EINVAL: verdict.pointee = .unknown
            default: break
            }
        }
        return result
    }
}
