import Foundation
import Penstock

/// Where a command keeps responses: in memory, or in a file.
enum CacheLocation: Sendable {
    case memory
    case file(URL)

    init(_ text: String) {
        self = text == "memory" ? .memory : .file(URL(fileURLWithPath: text))
    }

    var name: String {
        switch self {
        case .memory: "memory"
        case .file: "disk"
        }
    }

    func open() -> any CacheStore {
        switch self {
        case .memory: MemoryCacheStore()
        case .file(let file): PlatformCache.open(file)
        }
    }
}
