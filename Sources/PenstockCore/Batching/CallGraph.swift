/// Calls of which some need what others bring: a directed acyclic graph, made as a value and run by ``APIClient/run(_:limit:options:in:)``.
///
/// ```swift
/// var graph = CallGraph()
/// let user = try graph.add(GetUser())
/// let cart = try graph.add(after: user) { user in GetCart(of: user.id) }
/// let price = try graph.add(after: user, cart) { user, cart in GetPrice(cart.items, for: user.group) }
/// let results = await client.run(graph)
/// show(try results[price].get())
/// ```
///
/// A call begins as soon as all that it waits for has succeeded. When one fails, its descendants are skipped and told why;
/// all others go on. A call can only name calls that were added before it, so that adding makes no cycle; one that
/// ``order(_:after:)-(CallNode<_>,CallNode<_>)`` would make is refused there.
public struct CallGraph: Sendable {
    struct Node: Sendable {
        let number: UInt64
        let name: String
        var parents: [Int]
        /// Runs the call with the outputs of its parents.
        let perform: @Sendable (CallRun, CallOutputs) async -> Result<any Sendable, APIError>
    }

    private(set) var nodes: [Node] = []
    private var indices: [UInt64: Int] = [:]
    private var names: [String: Int] = [:]
    /// How many calls of a type were named by it, so that a name that is free is found at once.
    private var namedByType: [String: Int] = [:]

    private static let last = Locked<UInt64>(0)

    /// A graph without calls.
    public init() {}

    /// The names of the calls, in the order in which they were added.
    public var callNames: [String] { nodes.map(\.name) }

    /// Adds a call that needs nothing of another one.
    ///
    /// - Parameter name: by which it is ordered and told of. The endpoint's type name by default, with a number after it
    ///   where that is taken.
    /// - Throws: ``CallGraphError/duplicateName(_:)``.
    @discardableResult
    public mutating func add<E: Endpoint>(
        _ endpoint: E, name: String? = nil
    ) throws(CallGraphError) -> CallNode<E.Output> {
        try insert(name, E.self, parents: []) { _ in endpoint }
    }

    /// Adds a call that is made of what other calls bring.
    ///
    /// - Parameters:
    ///   - parents: calls that were added before. It begins once all of them have succeeded.
    ///   - name: by which it is ordered and told of. The endpoint's type name by default, with a number after it where that
    ///     is taken.
    ///   - endpoint: makes the call of the outputs of its parents, in their order. What it throws, the call fails of.
    /// - Throws: ``CallGraphError/unknownCall(_:)`` for a parent of another graph; ``CallGraphError/duplicateName(_:)``.
    @discardableResult
    public mutating func add<each Parent, E: Endpoint>(
        after parents: repeat CallNode<each Parent>, name: String? = nil,
        endpoint: @escaping @Sendable (repeat each Parent) throws -> E
    ) throws(CallGraphError) -> CallNode<E.Output> {
        var places: [Int] = []
        for parent in repeat each parents { places.append(try place(of: parent.number)) }
        return try insert(name, E.self, parents: places) { outputs in
            try endpoint(repeat try outputs.value(of: each parents))
        }
    }

    /// Has a call wait for another one whose output it does not need.
    ///
    /// - Throws: ``CallGraphError/cycle(_:)`` when the other one waits for it, directly or not, or is the same one;
    ///   ``CallGraphError/unknownCall(_:)`` for a call of another graph.
    public mutating func order<Child, Parent>(
        _ child: CallNode<Child>, after parent: CallNode<Parent>
    ) throws(CallGraphError) {
        try order(place(of: child.number), after: place(of: parent.number))
    }

    /// Has a call wait for another one, both by name.
    ///
    /// - Throws: ``CallGraphError/cycle(_:)`` when the other one waits for it, directly or not, or is the same one;
    ///   ``CallGraphError/unknownCall(_:)`` for a name that no call has.
    public mutating func order(_ child: String, after parent: String) throws(CallGraphError) {
        try order(place(named: child), after: place(named: parent))
    }

    // MARK: Building

    private mutating func order(_ child: Int, after parent: Int) throws(CallGraphError) {
        if let path = path(from: parent, to: child) {
            throw .cycle([nodes[child].name] + path.map { nodes[$0].name })
        }
        if !nodes[child].parents.contains(parent) { nodes[child].parents.append(parent) }
    }

    /// The way from a call to one that it waits for, both included; `nil` where there is none.
    private func path(from start: Int, to goal: Int) -> [Int]? {
        var cameFrom: [Int: Int] = [start: start]
        var open = [start]
        while let node = open.popLast() {
            if node == goal { return path(to: goal, cameFrom) }
            for parent in nodes[node].parents where cameFrom[parent] == nil {
                cameFrom[parent] = node
                open.append(parent)
            }
        }
        return nil
    }

    private func path(to goal: Int, _ cameFrom: [Int: Int]) -> [Int] {
        var path = [goal]
        var node = goal
        while let previous = cameFrom[node], previous != node {
            path.append(previous)
            node = previous
        }
        return path.reversed()
    }

    private mutating func insert<E: Endpoint>(
        _ name: String?, _ type: E.Type, parents: [Int], make: @escaping @Sendable (CallOutputs) throws -> E
    ) throws(CallGraphError) -> CallNode<E.Output> {
        let name = try freeName(name, type)
        let number = Self.last.withLock { last in
            last += 1
            return last
        }
        indices[number] = nodes.count
        names[name] = nodes.count
        nodes.append(
            Node(number: number, name: name, parents: parents) { run, outputs in
                do {
                    return await run.send(try make(outputs)).map { $0 }
                } catch {
                    return .failure(run.client.presented(.wrapping(error, stage: .prepare), of: nil))
                }
            })
        return CallNode(number: number, name: name)
    }

    private mutating func freeName(_ name: String?, _ type: Any.Type) throws(CallGraphError) -> String {
        if let name {
            guard names[name] == nil else { throw .duplicateName(name) }
            return name
        }
        let base = String(describing: type)
        var count = namedByType[base, default: 0]
        var free = base
        repeat {
            count += 1
            free = count == 1 ? base : "\(base) \(count)"
        } while names[free] != nil
        namedByType[base] = count
        return free
    }

    private func place(of number: UInt64) throws(CallGraphError) -> Int {
        guard let index = indices[number] else { throw .unknownCall("a call of another graph") }
        return index
    }

    private func place(named name: String) throws(CallGraphError) -> Int {
        guard let index = names[name] else { throw .unknownCall(name) }
        return index
    }
}

/// A call of a graph, by the type of its output. It is made by ``CallGraph/add(_:name:)`` alone.
public struct CallNode<Output: Sendable>: Hashable, Sendable {
    let number: UInt64
    /// The name by which the call is ordered and told of in its graph.
    public let name: String
}

/// Why a graph is none.
@nonexhaustive
public enum CallGraphError: Error, Hashable, Sendable {
    /// A call would wait for itself. The names of the calls on the way round, the first one again at the end.
    case cycle([String])
    /// Two calls of one name.
    case duplicateName(String)
    /// The graph has no such call.
    case unknownCall(String)
}

extension CallGraphError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .cycle(let names): "calls wait for themselves: \(names.joined(separator: " after "))"
        case .duplicateName(let name): "two calls are named \(name)"
        case .unknownCall(let name): "the graph does not have this call: \(name)"
        }
    }
}

/// Why a call of a graph has no output.
@nonexhaustive
public enum CallNodeError: Error, Sendable {
    /// It was sent, or could not be made, and failed.
    case failed(APIError)
    /// It was not sent, because the call of that name has failed, for which it waits directly or not.
    case skipped(because: String, APIError)
    /// The graph that was run has no such call.
    case notInGraph

    /// What it failed of, or what the call failed of that it waited for.
    public var error: APIError? {
        switch self {
        case .failed(let error), .skipped(_, let error): error
        case .notInGraph: nil
        }
    }
}

/// What came of a graph that was run.
public struct CallGraphResults: Sendable {
    private let results: [UInt64: Result<any Sendable, CallNodeError>]

    init(_ results: [UInt64: Result<any Sendable, CallNodeError>]) {
        self.results = results
    }

    /// What came of one call.
    public subscript<Output>(node: CallNode<Output>) -> Result<Output, CallNodeError> {
        switch results[node.number] {
        case .success(let value as Output): .success(value)
        case .failure(let error): .failure(error)
        default: .failure(.notInGraph)
        }
    }

    /// Whether every call has succeeded.
    public var isSuccess: Bool {
        results.values.allSatisfy { if case .success = $0 { true } else { false } }
    }
}

/// What calls of a graph under way have brought, by their numbers.
final class CallOutputs: Sendable {
    private let results = Locked<[UInt64: Result<any Sendable, CallNodeError>]>([:])

    /// - Throws: ``APIError/Kind/invalidConfiguration(reason:)`` when there is none, which a schedule never lets happen.
    func value<Output>(of node: CallNode<Output>) throws(APIError) -> Output {
        guard case .success(let value as Output) = results.withLock({ $0[node.number] }) else {
            throw APIError(.invalidConfiguration(reason: "\(node.name) has brought nothing"), stage: .prepare)
        }
        return value
    }

    func put(_ result: Result<any Sendable, CallNodeError>, for number: UInt64) {
        results.withLock { $0[number] = result }
    }

    func error(of number: UInt64) -> APIError? {
        guard case .failure(let failure) = results.withLock({ $0[number] }) else { return nil }
        return failure.error
    }

    var all: [UInt64: Result<any Sendable, CallNodeError>] { results.withLock { $0 } }
}

extension APIClient {
    /// Sends the calls of a graph, each as soon as what it waits for has succeeded, and gives the results of all.
    ///
    /// All end at once when the task is cancelled, the scope is told to end its calls, or ``cancelAll()``: with ``APIError/Kind/cancelled``, or skipped
    /// because of one that was cancelled.
    ///
    /// - Parameters:
    ///   - limit: how many may be under way at a time; at least one.
    ///   - options: what all of them want different.
    ///   - scope: ends them by ``CallScope/cancelAll()``. It cannot go meanwhile, since whoever waits holds it.
    public func run(
        _ graph: CallGraph, limit: Int = batchLimit, options: CallOptions = .init(), in scope: CallScope? = nil
    ) async -> CallGraphResults {
        await CallRun(self, options: options, in: scope).run(graph, limit: limit)
    }

    /// Starts the calls of a graph and delivers the results of all to a closure on the main actor.
    ///
    /// The closure is called once; not at all once the scope is gone.
    @discardableResult
    public func start(
        _ graph: CallGraph, limit: Int = batchLimit, options: CallOptions = .init(), in scope: CallScope? = nil,
        completion: @escaping @MainActor @Sendable (CallGraphResults) -> Void
    ) -> CallGroup {
        let run = CallRun(self, options: options, in: scope)
        return CallGroup {
            let results = await run.run(graph, limit: limit)
            await run.deliver { completion(results) }
        }
    }
}

extension CallRun {
    fileprivate func run(_ graph: CallGraph, limit: Int) async -> CallGraphResults {
        let nodes = graph.nodes
        let outputs = CallOutputs()
        let schedule = CallSchedule(parents: nodes.map(\.parents), limit: limit, stopsAtFailure: false)
        _ = await run(schedule) { skips in
            for skip in skips {
                let cause = nodes[skip.cause]
                let error = outputs.error(of: cause.number) ?? client.presented(.notBegun, of: nil)
                outputs.put(.failure(.skipped(because: cause.name, error)), for: nodes[skip.call].number)
            }
        } perform: { index in
            let result = await nodes[index].perform(self, outputs)
            outputs.put(result.mapError(CallNodeError.failed), for: nodes[index].number)
            return (try? result.get()) != nil
        }
        var results = outputs.all
        for node in nodes where results[node.number] == nil {
            results[node.number] = .failure(.failed(client.presented(.notBegun, of: nil)))
        }
        return CallGraphResults(results)
    }
}

extension CallGraphResults: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// How many calls have succeeded, never what they brought.
    public var description: String {
        let successes = results.values.count { if case .success = $0 { true } else { false } }
        return "\(successes) of \(results.count) calls have succeeded"
    }

    public var debugDescription: String { description }

    public var customMirror: Mirror { Mirror(self, children: ["results": description], displayStyle: .struct) }
}
