/// What the story knows, and nobody reads who was not meant to: none of it is in anything that the story prints or leaves behind.
enum Secret {
    static let password = "open sesame"
    /// A wrong password, and the secret of somebody who is not the shop. Somebody's it may be.
    static let guess = "open barley"
    /// What calls for vouchers are signed with.
    static let vouchers = "open the till"
    static let card = "4111 1111 1111 1234"

    static let all = [password, guess, vouchers, card]
}
