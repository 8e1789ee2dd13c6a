/// The words of a command line, taken one after the other.
struct Arguments {
    private var rest: ArraySlice<String>

    init(_ words: ArraySlice<String>) {
        rest = words
    }

    mutating func next() -> String? {
        rest.popFirst()
    }

    mutating func text() throws -> String {
        guard let word = next() else { throw Failure(Bench.usage) }
        return word
    }

    mutating func count() throws -> Int {
        guard let count = Int(try text()), count > 0 else { throw Failure(Bench.usage) }
        return count
    }

    mutating func name<Value: RawRepresentable<String>>() throws -> Value {
        guard let value = Value(rawValue: try text()) else { throw Failure(Bench.usage) }
        return value
    }
}

struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
