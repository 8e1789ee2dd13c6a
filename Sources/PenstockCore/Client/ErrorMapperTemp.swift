public struct ErrorMapper: Sendable { func presentation(of: APIError) -> APIError.Presentation? { nil } }
