/// What the suffix of a file's name says of its content.
public enum MediaType {
    /// Of what is just bytes (RFC 2046 §4.5.1).
    public static let bytes = "application/octet-stream"

    /// The media type that a name's suffix stands for, by IANA's registry; ``bytes`` where it has none, or one that is not known.
    ///
    /// It is for what an app sends. What a server says of its own content is believed instead.
    public static func bySuffix(of name: String) -> String {
        guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")) else { return bytes }
        return table[name[name.index(after: dot)...].lowercased()] ?? bytes
    }

    private static let table: [String: String] = [
        "7z": "application/x-7z-compressed", "aac": "audio/aac", "apng": "image/apng", "avi": "video/x-msvideo",
        "avif": "image/avif", "bmp": "image/bmp", "br": "application/x-brotli", "bz2": "application/x-bzip2",
        "css": "text/css", "csv": "text/csv", "doc": "application/msword",
        "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "epub": "application/epub+zip",
        "flac": "audio/flac", "gif": "image/gif", "gz": "application/gzip", "heic": "image/heic", "heif": "image/heif",
        "htm": "text/html", "html": "text/html", "ico": "image/vnd.microsoft.icon", "ics": "text/calendar",
        "jpeg": "image/jpeg", "jpg": "image/jpeg", "js": "text/javascript", "json": "application/json",
        "jxl": "image/jxl", "log": "text/plain", "m4a": "audio/mp4", "m4v": "video/mp4", "md": "text/markdown",
        "mjs": "text/javascript", "mkv": "video/matroska", "mov": "video/quicktime", "mp3": "audio/mpeg",
        "mp4": "video/mp4", "mpeg": "video/mpeg", "mpg": "video/mpeg", "odt": "application/vnd.oasis.opendocument.text",
        "oga": "audio/ogg", "ogg": "audio/ogg", "ogv": "video/ogg", "opus": "audio/ogg", "otf": "font/otf",
        "pdf": "application/pdf", "png": "image/png", "ppt": "application/vnd.ms-powerpoint",
        "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "rar": "application/vnd.rar",
        "rtf": "application/rtf", "svg": "image/svg+xml", "tar": "application/x-tar", "tif": "image/tiff",
        "tiff": "image/tiff", "ttf": "font/ttf", "txt": "text/plain", "vcf": "text/vcard", "wasm": "application/wasm",
        "wav": "audio/wav", "weba": "audio/webm", "webm": "video/webm", "webp": "image/webp", "woff": "font/woff",
        "woff2": "font/woff2", "xhtml": "application/xhtml+xml", "xls": "application/vnd.ms-excel",
        "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xml": "application/xml",
        "xz": "application/x-xz", "yaml": "application/yaml", "yml": "application/yaml", "zip": "application/zip",
        "zst": "application/zstd",
    ]
}
