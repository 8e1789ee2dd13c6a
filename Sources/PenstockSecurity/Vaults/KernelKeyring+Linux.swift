#if os(Linux)
    import CKernelKeyring
    import Foundation
    import PenstockCore

    extension VaultKey {
        /// A key of the type `user` in Linux's kernel, which never comes to a disk (keyrings(7)): put there by
        /// ``KernelKeyring/add(_:name:lifetime:)`` or by `keyctl padd user NAME @u`.
        ///
        /// While it is not there, because it has expired, or the machine was started anew, the vault is ``VaultError/locked``.
        public static func kernelKeyring(_ name: String) -> VaultKey {
            VaultKey(origin: .held { () throws(VaultError) in try KernelKeyring.key(name) })
        }
    }

    /// The keys that Linux's kernel holds for the user.
    public enum KernelKeyring {
        /// What is longer is no key of ours.
        private static let limit = 4_096

        /// Unlocks the vaults whose key has this name, for every program of the user's.
        ///
        /// - Parameters:
        ///   - key: takes the place of one that has the name.
        ///   - lifetime: after which the kernel forgets it, in whole seconds; `nil`, the default, keeps it until it is
        ///     removed, or the machine is started anew.
        /// - Throws: ``VaultError/denied`` where the process may not, as in many containers; ``VaultError/unavailable`` where
        ///   the user's quota is used up.
        public static func add(_ key: Data, name: String, lifetime: Duration? = nil) throws(VaultError) {
            let bytes = [UInt8](key)
            let added = ckernelkeyring_add(name, bytes, bytes.count)
            guard added >= 0 else { throw VaultError(keyErrno: errno) }
            guard let lifetime else { return }
            // Nothing is "for good" to the kernel.
            let seconds = UInt32(clamping: max(lifetime.components.seconds, 1))
            guard ckernelkeyring_set_timeout(added, seconds) == 0 else { throw VaultError(keyErrno: errno) }
        }

        /// Locks the vaults whose key has this name.
        ///
        /// - Returns: whether there was one.
        /// - Throws: ``VaultError/denied`` where the process may not remove it.
        @discardableResult
        public static func remove(name: String) throws(VaultError) -> Bool {
            let key = ckernelkeyring_find(name)
            guard key >= 0 else {
                let error = VaultError(keyErrno: errno)
                if error == .locked { return false }
                throw error
            }
            guard ckernelkeyring_remove(key) == 0 else { throw VaultError(keyErrno: errno) }
            return true
        }

        static func key(_ name: String) throws(VaultError) -> Data {
            let key = ckernelkeyring_find(name)
            guard key >= 0 else { throw VaultError(keyErrno: errno) }
            var bytes = [UInt8](repeating: 0, count: limit)
            let count = ckernelkeyring_read(key, &bytes, limit)
            guard count >= 0 else { throw VaultError(keyErrno: errno) }
            guard count <= limit else { throw .corrupt }
            return Data(bytes.prefix(count))
        }
    }

    extension VaultError {
        /// What the kernel says of a key.
        init(keyErrno code: Int32) {
            self =
                switch code {
                case ENOKEY, EKEYEXPIRED, EKEYREVOKED: .locked
                case EACCES, EPERM: .denied
                default: .unavailable
                }
        }
    }
#endif
