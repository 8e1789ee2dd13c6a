#if os(Linux)
    import CCurl
    import Foundation
    import PenstockCore

    /// How libcurl is told a request's method, and where its body comes from.
    extension CurlHandle {
        func setMethodAndBody(_ request: HTTPRequest, _ source: (any CurlBodySource)?) {
            guard request.method != .get || !request.body.isNone else { return }
            needReset()
            if request.method == .head {
                set(CURLOPT_NOBODY, 1)
                return
            }
            setBody(request, source)
            keep(ccurl_set_text(easy, CURLOPT_CUSTOMREQUEST, request.method.rawValue))
        }

        private func setBody(_ request: HTTPRequest, _ source: (any CurlBodySource)?) {
            if let source { return setUpload(source) }
            switch request.body.source {
            case .bytes(let data): setInline(data)
            default: if request.method.expectsContent { setInline(Data()) }
            }
        }

        private func setUpload(_ source: any CurlBodySource) {
            let context = Unmanaged.passUnretained(self).toOpaque()
            set(CURLOPT_UPLOAD, 1)
            if let length = source.length, length > CurlUploadPace.least {
                holdsLargeBuffers()
                hint(CURLOPT_UPLOAD_BUFFERSIZE, min(length, CurlUploadPace.most))
            }
            keep(ccurl_set_size(easy, CURLOPT_INFILESIZE_LARGE, curl_off_t(source.length ?? -1)))
            keep(ccurl_set_data_callback(easy, CURLOPT_READFUNCTION, CurlCallbacks.read))
            keep(ccurl_set_pointer(easy, CURLOPT_READDATA, context))
            keep(ccurl_set_seek_callback(easy, CurlCallbacks.seek))
            keep(ccurl_set_pointer(easy, CURLOPT_SEEKDATA, context))
        }

        /// A small body leaves together with the head, in one packet, from libcurl's own copy.
        private func setInline(_ data: Data) {
            keep(ccurl_set_size(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(data.count)))
            guard !data.isEmpty else {
                keep(ccurl_set_text(easy, CURLOPT_COPYPOSTFIELDS, ""))
                return
            }
            data.withUnsafeBytes { bytes in
                keep(ccurl_set_text(easy, CURLOPT_COPYPOSTFIELDS, bytes.bindMemory(to: CChar.self).baseAddress))
            }
        }
    }
#endif
