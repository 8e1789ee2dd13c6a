#if !canImport(Darwin)
    import Foundation

    enum FileMove {
        private typealias Function =
            @convention(c) (Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32) -> Int32

        /// Swift does not see the function in every C library that has it.
        private static let renames: Function? = dlsym(nil, "renameat2").map { unsafeBitCast($0, to: Function.self) }

        /// Gives a file another name, unless something has that: as `rename` returns, with `EEXIST`.
        static func exclusively(_ old: String, _ new: String) -> Int32 {
            guard let renames else {
                errno = ENOSYS
                return -1
            }
            // RENAME_NOREPLACE, which is 1 everywhere.
            return renames(AT_FDCWD, old, AT_FDCWD, new, 1)
        }
    }
#endif
