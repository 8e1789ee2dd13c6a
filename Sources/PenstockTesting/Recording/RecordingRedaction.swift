import Foundation
import PenstockCore

/// Takes the secrets out of what is recorded, by the rules of ``Redaction``.
enum RecordingRedaction {
    static func fields(_ fields: HTTPFields) -> [Recording.Field] {
        fields.map { .init(name: $0.name.text, value: Redaction.value($0.value, of: $0.name)) }
    }
}
