import Foundation

/// What stands in the `http` block of the test's nginx. Everything that nginx writes stays in `folder`.
struct NginxConfiguration {
    let folder: URL
    /// Plain, elsewhere, then the TLS origins: valid, expired, self-signed, wrong host.
    let ports: [UInt16]
    let certificates: Certificates
    /// What `/ready` answers, so that a server of somebody else is not taken for this one.
    let ready: String

    var text: String {
        """
        log_format requests '$server_port $status $body_bytes_sent $request_uri';
        access_log \(folder.path)/\(NginxServer.accessLogName) requests;
        keepalive_requests 1000000;
        keepalive_timeout 75s;
        client_max_body_size 64m;
        client_body_in_file_only on;
        absolute_redirect off;
        types { application/json json; application/octet-stream bin; }
        \(plainServer(ports[0]))
        \(plainServer(ports[1]))
        \(secureServer(ports[2], certificates.valid))
        \(secureServer(ports[3], certificates.expired))
        \(secureServer(ports[4], certificates.selfSigned))
        \(secureServer(ports[5], certificates.wrongHost))
        """
    }

    private func plainServer(_ port: UInt16) -> String {
        """
        server {
            listen 127.0.0.1:\(port);
        \(locations)
        }
        """
    }

    private func secureServer(_ port: UInt16, _ identity: Certificates.Identity) -> String {
        """
        server {
            listen 127.0.0.1:\(port) ssl http2;
            ssl_certificate \(identity.certificate.path);
            ssl_certificate_key \(identity.key.path);
        \(locations)
        }
        """
    }

    /// - `/echo`: what arrived, and on which connection; answered before the content is read
    /// - `/upload`: the same, after the content was read and written to the file that the reply names
    /// - `/list.json`: a JSON array, compressed where the client accepts that
    /// - `/large.bin`: 8 MiB, with ranges; `/slow.bin`: the same at 64 KiB a second
    /// - `/redirect/STATUS`: to `/echo`, relative; `/redirect/elsewhere`: to the other origin; `/redirect/loop`;
    ///   `/redirect/plain`: to the origin without TLS; `/redirect/file`: to a file
    /// - `/empty`: 204; `/unavailable`: 503 with `Retry-After`; `/last`: closes the connection after its answer;
    ///   `/cut`: closes it without one
    /// - anything else: nginx's own 404 page, in HTML
    private var locations: String {
        """
        root content;
        location = /ready { return 200 "\(ready)"; }
        location = /upload { \(upload) }
        location = /echo { default_type application/json; return 200 '\(echo)'; }
        location = /list.json { gzip on; gzip_types application/json; gzip_min_length 1; }
        location = /large.bin { }
        location = /slow.bin { limit_rate 64k; alias \(folder.path)/content/large.bin; }
        \([301, 302, 303, 307, 308].map { "location = /redirect/\($0) { return \($0) /echo; }" }.joined(separator: "\n"))
        location = /redirect/elsewhere { return 307 http://127.0.0.1:\(ports[1])/echo; }
        location = /redirect/plain { return 302 http://127.0.0.1:\(ports[0])/echo; }
        location = /redirect/loop { return 302 /redirect/loop; }
        location = /redirect/file { return 302 file:///etc/hostname; }
        location = /empty { return 204; }
        location = /unavailable { add_header Retry-After 1 always; return 503 "later"; }
        location = /last { keepalive_timeout 0; return 200 "last"; }
        location = /cut { return 444; }
        """
    }

    private var upload: String {
        """
        proxy_pass http://127.0.0.1:\(ports[0])/echo; proxy_method GET; proxy_pass_request_body off; \
        proxy_set_header Content-Length ""; add_header X-Body-File $request_body_file; \
        add_header X-Connection $connection;
        """
    }

    private let echo = """
        {"method":"$request_method","uri":"$request_uri","protocol":"$server_protocol","host":"$http_host",\
        "authorization":"$http_authorization","proxyAuthorization":"$http_proxy_authorization","length":"$content_length",\
        "connection":$connection,"request":$connection_requests}
        """
}
