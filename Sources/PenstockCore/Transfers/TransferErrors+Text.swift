import Foundation

extension ResumableUploadError: LocalizedError {
    public var errorDescription: String? {
        switch self {
        case .sourceChanged: "The file was changed while it was sent."
        case .sourceUnreadable(let reason): "The file cannot be read: \(reason)"
        case .inUse: "The file is being sent already."
        case .impossibleOffset: "The server has other bytes than were sent."
        case .stalled: "The server takes no more of the file."
        case .notResumable: "The server does not say where the upload can be continued."
        case .sizeRefused: "The server takes no file of this size."
        case .gone: "The server knows nothing of the upload any more."
        case .outcomeUnknown: "The file was sent, and whether it has arrived is not known."
        case .unusableState(let reason): "What is kept of the upload cannot be used: \(reason)"
        }
    }
}

extension MultipartError: LocalizedError {
    public var errorDescription: String? {
        switch self {
        case .invalidName: "A name in the form holds a character that it must not hold."
        case .invalidField: "A field of a part of the form is not valid."
        case .wrongLength(let declared, let given): "A part of the form has \(given) bytes in place of \(declared)."
        }
    }
}

extension SourceFileError: LocalizedError {
    public var errorDescription: String? {
        switch self {
        case .unreadable(let file, _): "The file \(file.lastPathComponent) cannot be read."
        case .changed(let file): "The file \(file.lastPathComponent) was changed while it was sent."
        case .shrank(let file): "The file \(file.lastPathComponent) became shorter while it was sent."
        case .grew(let file): "The file \(file.lastPathComponent) became longer while it was sent."
        }
    }
}
