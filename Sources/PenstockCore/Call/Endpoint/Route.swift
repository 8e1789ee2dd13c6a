/// Verb and path of an API, declared once.
///
/// ```swift
/// var route: Route { .get("/products/\(id)") }
/// ```
public struct Route: Hashable, Sendable {
    /// The verb.
    public let method: HTTPMethod
    /// Where it is below the service's base URL and version.
    public let path: RoutePath

    /// A route by any verb; the standard ones have functions of their own.
    public init(_ method: HTTPMethod, _ path: RoutePath) {
        self.method = method
        self.path = path
    }

    /// Reads. Parameters go to the query by default.
    public static func get(_ path: RoutePath) -> Route { Route(.get, path) }
    /// Reads the head alone. Parameters go to the query by default.
    public static func head(_ path: RoutePath) -> Route { Route(.head, path) }
    /// Has something processed or created. Parameters go to a JSON body by default.
    public static func post(_ path: RoutePath) -> Route { Route(.post, path) }
    /// Replaces what is there. Parameters go to a JSON body by default.
    public static func put(_ path: RoutePath) -> Route { Route(.put, path) }
    /// Changes a part of what is there (RFC 5789). Parameters go to a JSON body by default.
    public static func patch(_ path: RoutePath) -> Route { Route(.patch, path) }
    /// Removes what is there. Parameters go to the query by default.
    public static func delete(_ path: RoutePath) -> Route { Route(.delete, path) }
    /// Asks what can be done there. Parameters go to the query by default.
    public static func options(_ path: RoutePath) -> Route { Route(.options, path) }
}

/// Paths that are texts, which would lose what an interpolated path knows of its arguments.
extension Route {
    /// A path that is made at run time is a ``RoutePath/init(literal:)``.
    @available(
        *, unavailable,
        message:
            "a path is written where it is used, which escapes what is interpolated: \"/users/\\(id)\"; one that is made at run time is a RoutePath(literal: path)"
    )
    @_disfavoredOverload
    public static func get(_ path: String) -> Route { Route(.get, RoutePath(literal: path)) }

    /// A path that is made at run time is a ``RoutePath/init(literal:)``.
    @available(
        *, unavailable,
        message:
            "a path is written where it is used, which escapes what is interpolated: \"/users/\\(id)\"; one that is made at run time is a RoutePath(literal: path)"
    )
    @_disfavoredOverload
    public static func head(_ path: String) -> Route { Route(.head, RoutePath(literal: path)) }

    /// A path that is made at run time is a ``RoutePath/init(literal:)``.
    @available(
        *, unavailable,
        message:
            "a path is written where it is used, which escapes what is interpolated: \"/users/\\(id)\"; one that is made at run time is a RoutePath(literal: path)"
    )
    @_disfavoredOverload
    public static func post(_ path: String) -> Route { Route(.post, RoutePath(literal: path)) }

    /// A path that is made at run time is a ``RoutePath/init(literal:)``.
    @available(
        *, unavailable,
        message:
            "a path is written where it is used, which escapes what is interpolated: \"/users/\\(id)\"; one that is made at run time is a RoutePath(literal: path)"
    )
    @_disfavoredOverload
    public static func put(_ path: String) -> Route { Route(.put, RoutePath(literal: path)) }

    /// A path that is made at run time is a ``RoutePath/init(literal:)``.
    @available(
        *, unavailable,
        message:
            "a path is written where it is used, which escapes what is interpolated: \"/users/\\(id)\"; one that is made at run time is a RoutePath(literal: path)"
    )
    @_disfavoredOverload
    public static func patch(_ path: String) -> Route { Route(.patch, RoutePath(literal: path)) }

    /// A path that is made at run time is a ``RoutePath/init(literal:)``.
    @available(
        *, unavailable,
        message:
            "a path is written where it is used, which escapes what is interpolated: \"/users/\\(id)\"; one that is made at run time is a RoutePath(literal: path)"
    )
    @_disfavoredOverload
    public static func delete(_ path: String) -> Route { Route(.delete, RoutePath(literal: path)) }

    /// A path that is made at run time is a ``RoutePath/init(literal:)``.
    @available(
        *, unavailable,
        message:
            "a path is written where it is used, which escapes what is interpolated: \"/users/\\(id)\"; one that is made at run time is a RoutePath(literal: path)"
    )
    @_disfavoredOverload
    public static func options(_ path: String) -> Route { Route(.options, RoutePath(literal: path)) }
}

extension Route {
    /// Two APIs of one service that were given the same verb and path.
    public struct Duplicate: Hashable, Sendable {
        /// The service that both belong to.
        public let service: ServiceID
        /// The verb that both have.
        public let method: HTTPMethod
        /// The path with `{}` for its arguments.
        public let template: String
        /// The type names, in the order they were listed.
        public let endpoints: [String]
    }

    /// Finds verb and path declared more than once, whatever the names of the arguments. Meant for a test of the app's own,
    /// with one sample of each API.
    public static func duplicates(among samples: [any Endpoint]) -> [Duplicate] {
        struct Key: Hashable {
            let service: ServiceID
            let method: HTTPMethod
            let template: String
        }
        var names: [Key: [String]] = [:]
        var order: [Key] = []
        for sample in samples {
            let route = sample.route
            let key = Key(service: sample.service, method: route.method, template: route.path.shape)
            if names[key] == nil { order.append(key) }
            names[key, default: []].append(String(describing: type(of: sample)))
        }
        return order.compactMap { key in
            guard let endpoints = names[key], endpoints.count > 1 else { return nil }
            return Duplicate(service: key.service, method: key.method, template: key.template, endpoints: endpoints)
        }
    }
}
