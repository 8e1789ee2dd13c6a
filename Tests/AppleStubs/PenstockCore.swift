import Foundation

// What PenstockCore needs of Apple's C library that has another name, or is not there, on Linux.

extension stat {
    var st_mtimespec: timespec { st_mtim }
}

func sysctlbyname(
    _ name: UnsafePointer<CChar>!, _ old: UnsafeMutableRawPointer!, _ oldLength: UnsafeMutablePointer<Int>!,
    _ new: UnsafeMutableRawPointer!, _ newLength: Int
) -> Int32 { -1 }

let RENAME_EXCL: Int32 = 0x4

func renamex_np(_ old: UnsafePointer<CChar>!, _ new: UnsafePointer<CChar>!, _ flags: UInt32) -> Int32 { -1 }

func autoreleasepool<Result>(invoking body: () throws -> Result) rethrows -> Result { try body() }
