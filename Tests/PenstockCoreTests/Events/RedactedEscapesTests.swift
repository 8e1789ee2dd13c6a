import Foundation
import PenstockTestSupport
import Testing

@testable import PenstockCore

/// Secrets that are escaped, once or several times, wherever they stand.
@Suite(.covers("X10")) struct RedactedEscapesTests {
    static let escaped: [(text: String, shown: String)] = [
        ("/img/https%3A%2F%2Fu%3Ahunter2%40h%2F%3Ftoken%3Dhunter2", "/img/‹redacted›"),
        ("/go/token%3Dhunter2", "/go/‹redacted›"), ("/go/token%253Dhunter2/b", "/go/‹redacted›/b"),
        ("/go/Bearer%20hunter2secret", "/go/‹redacted›"), ("/go/eyJhbGciOiJIUzI1%4EiJ9", "/go/‹redacted›"),
        ("/cb;r=https%3A%2F%2Fh%2F%3Ftoken%3Dhunter2", "/cb;r=‹redacted›"),
        ("/cb;token%3Dhunter2=1", "/cb;‹redacted›=‹redacted›"),
        ("/?next=https%253A%252F%252Fh%252F%253Faccess_token%253Dhunter2", "/?next=‹redacted›"),
        ("/?r=%252Fcb%253Ftoken%253Dhunter2", "/?r=‹redacted›"), ("/?a%3Dtoken%3Dhunter2", "/?‹redacted›"),
        ("/?token%3Dhunter2=1", "/?‹redacted›=‹redacted›"),
        ("https://u%3Ahunter2%40h/x", "https://‹redacted›/x"), ("https:%2F/u:hunter2@h/x", "‹redacted›"),
        ("a=token=hunter2", "a=‹redacted›"), ("x,https%3A%2F%2Fu%3Ahunter2%40h", "x,‹redacted›"),
        // What hides nothing stays as it is.
        ("/a%20b/c%2Fd", "/a%20b/c%2Fd"), ("/100%", "/100%"), ("/?q=50%25+off", "/?q=50%25+off"),
        ("/o/images%2FkJ8s9dKf02mXn4LqP7vTzR1bYw.jpg", "/o/images%2FkJ8s9dKf02mXn4LqP7vTzR1bYw.jpg"),
        ("/?user%5Bname%5D=a", "/?user%5Bname%5D=a"), ("https://h%2Fx/y", "https://h%2Fx/y"), ("a=b=c", "a=b=c"),
        // A mark that has been made a part of a path again.
        ("/go/%E2%80%B9redacted%E2%80%BA", "/go/‹redacted›"),
        ("/cb;r=%E2%80%B9redacted%E2%80%BA", "/cb;r=‹redacted›"),
    ]

    @Test("What is escaped is redacted by what it means, up to three times over", arguments: escaped)
    func escapes(_ text: String, _ shown: String) throws {
        #expect(Redaction.text(text) == shown)
        #expect(Redaction.text(shown) == shown)
        #expect(Redaction.value(text, of: "X-N") == shown)
        if text.hasPrefix("/") { #expect("\(try HTTPURL("https://h" + text))" == "https://h" + shown) }
        let json = Redaction.content(Data(#"{"n":"\#(text)"}"#.utf8), type: "application/json")
        #expect(String(decoding: json, as: UTF8.self) == #"{"n":"\#(shown)"}"#)
    }

    static let spaces: [(query: String, shown: String)] = [
        ("h=Basic+aHVudGVyMg", "h=‹redacted›"), ("h=Basic+aHVudGVyMg%3D&a=1+2", "h=‹redacted›&a=1+2"),
        ("Bearer+hunter2", "‹redacted›"), ("q=token:+hunter2secret", "q=‹redacted›"),
        ("u=https%3A%2F%2Fa:b+c%40h", "u=‹redacted›"), ("q=basic+and+more", "q=basic+and+more"), ("q=a+b", "q=a+b"),
        ("q=1%2B2", "q=1%2B2"), ("q=Basic%2BaHVudGVyMg", "q=Basic%2BaHVudGVyMg"),
    ]

    @Test("A plus sign in a query is read as the space that it may stand for", arguments: spaces)
    func plusSigns(_ query: String, _ shown: String) throws {
        #expect(Redaction.query(query) == shown)
        #expect("\(try HTTPURL("https://h/?" + query))" == "https://h/?" + shown)
        #expect(Redaction.text("see /a?\(query)") == "see /a?\(shown)")
    }

    static let names: [(query: String, shown: String)] = [
        ("sk_live_4eC39HqLyjWDarjtT1zdp7dcXX=1", "‹redacted›=1"), ("Jq2Lk9Rt4Vw1Yz3Xc5Bn8M==", "‹redacted›=="),
        ("https://u:p@h/=1", "‹redacted›=1"), ("token=", "token="), ("page%5B1%5D=2", "page%5B1%5D=2"),
    ]

    @Test("A name in a query that is a secret itself is redacted", arguments: names)
    func namesOfPairs(_ query: String, _ shown: String) {
        #expect(Redaction.query(query) == shown && Redaction.query(shown) == shown)
    }

    static let slashes: [(text: String, shown: String)] = [
        (#"{"url":"https:\/\/u:hunter2@h\/", "a":"#, #"{"url":"https:\/\/‹redacted›@h\/", "a":"#),
        (#"https:\/\/u:hunter2@h\/x"#, #"https:\/\/‹redacted›@h\/x"#), (#"\\/\\/u:hunter2@h"#, #"\\/\\/‹redacted›@h"#),
        (#"https:\/\/h\/x"#, #"https:\/\/h\/x"#), (#"a\\b@c"#, #"a\\b@c"#),
    ]

    @Test(
        "User information is found behind slashes that JSON has escaped, also in what is no whole JSON",
        arguments: slashes)
    func escapedSlashes(_ text: String, _ shown: String) {
        #expect(Redaction.text(text) == shown && Redaction.text(shown) == shown)
        #expect(Redaction.value(text, of: "X-N") == shown)
    }
}

/// Markup without its secrets.
@Suite(.covers("X10")) struct RedactedMarkupTests {
    static let elements: [(text: String, shown: String)] = [
        (
            #"<wsse:Password Type="x">hunter2</wsse:Password><a>b</a>"#,
            #"<wsse:Password Type="x">‹redacted›</wsse:Password><a>b</a>"#
        ),
        ("<SecretAccessKey>hunter2</SecretAccessKey>", "<SecretAccessKey>‹redacted›</SecretAccessKey>"),
        ("<Token>\n  <a>hunter2</a>\n</Token>", "<Token>\n  ‹redacted›\n</Token>"),
        ("<token><token>a</token>b</token>c", "<token>‹redacted›</token>c"),
        ("<pin><![CDATA[hunter2]]></pin>", "<pin>‹redacted›</pin>"), ("<pin>hunter2 </pin>", "<pin>‹redacted› </pin>"),
        ("<pin>!a</pin>", "<pin>‹redacted›</pin>"), ("<my.pin>a</my.pin>", "<my.pin>‹redacted›</my.pin>"),
        ("<z:Pin>a</z:Pin><br/><pin>b</pin>", "<z:Pin>‹redacted›</z:Pin><br/><pin>‹redacted›</pin>"),
        (#"<pin>hunter2<\/pin> x"#, #"<pin>‹redacted›<\/pin> x"#),
        ("a <pin a='>'>hunter2</pin> b", "a <pin a='>'>‹redacted›</pin> b"),
        // Cut off.
        ("<?xml version=\"1.0\"?><a><Password>hunter2", "<?xml version=\"1.0\"?><a><Password>‹redacted›"),
        // Without content, other elements, and words between angle brackets.
        ("<Password></Password><pin/><pin> </pin>", "<Password></Password><pin/><pin> </pin>"),
        ("<author>Ada</author>", "<author>Ada</author>"),
        ("Bearer <token> is wanted, or <pin>", "Bearer <token> is wanted, or <pin>"),
        ("<html><p>Bearer <token> is wanted</p>", "<html><p>Bearer <token> is wanted</p>"),
        ("<_pin>a</_pin>", "<_pin>‹redacted›</_pin>"),
        ("a < b <pin", "a < b <pin"), ("</pin> a </pin>", "</pin> a </pin>"), ("> <pin", "> <pin"),
        ("<a <pin>x</pin>", "<a <pin>‹redacted›</pin>"), ("!<a><Password>hunter2", "!<a><Password>hunter2"),
    ]

    static let named: [(text: String, shown: String)] = [
        (
            #"<input type=hidden name="csrf_token" value="hunter2">"#,
            #"<input type=hidden name="csrf_token" value="‹redacted›">"#
        ),
        ("<input value=hunter2 name=code>", "<input value=‹redacted› name=code>"),
        ("<input name=code value=!a>", "<input name=code value=‹redacted›>"),
        (#"<meta name="csrf-token" content="hunter2">x"#, #"<meta name="csrf-token" content="‹redacted›">x"#),
        (#"<meta x:name="csrf-token" content="a">"#, #"<meta x:name="csrf-token" content="‹redacted›">"#),
        ("<input a=value=b name=code>", "<input a=value=b name=code>"),
        (#"<add name='ApiKey' value='hunter2'/>"#, #"<add name='ApiKey' value='‹redacted›'/>"#),
        // `key` is a parameter's name as well.
        (#"<add key="ApiKey" value="hunter2"/>"#, #"<add key="‹redacted›" value="‹redacted›"/>"#),
        (#"<string name="password">hunter2</string>"#, #"<string name="password">‹redacted›</string>"#),
        (
            "<property Name=\"pin\"><value>hunter2</value></property>",
            "<property Name=\"pin\">‹redacted›</property>"
        ),
        (
            "<key>password</key>\n<string>hunter2</string><key>a</key><string>b</string>",
            "<key>password</key>\n<string>‹redacted›</string><key>a</key><string>b</string>"
        ),
        ("<Key>Api-Key</Key><Value>hunter2</Value>", "<Key>Api-Key</Key><Value>‹redacted›</Value>"),
        ("<Key>pin!</Key><Value>a</Value>", "<Key>pin!</Key><Value>‹redacted›</Value>"),
        ("<Key>code</Key><Value>a</Value>", "<Key>code</Key><Value>a</Value>"),
        (#"<input name=\"pin\" value=\"a b\">"#, #"<input name=\"pin\" value=\"‹redacted›\">"#),
        ("<pin><a>b</a><c>d</c></pin>e", "<pin>‹redacted›</pin>e"),
        (#"<input name=pin value = "a b">"#, #"<input name=pin value = "‹redacted›">"#),
        ("<x:key>pin</x:key><x:string>a</x:string>", "<x:key>pin</x:key><x:string>‹redacted›</x:string>"),
        (
            "<name>token</name><value><string>hunter2</string></value>",
            "<name>token</name><value>‹redacted›</value>"
        ),
        (#"<input type="PASSWORD" id="f3" value="hunter2">"#, #"<input type="PASSWORD" id="f3" value="‹redacted›">"#),
        (#"<input id=pin value='hunter2'>"#, #"<input id=pin value='‹redacted›'>"#),
        (#"<a type="password" id="pin" value="b">"#, #"<a type="password" id="pin" value="b">"#),
        (#"<input type="pin" name="a" value="b">"#, #"<input type="pin" name="a" value="b">"#),
        // What holds the fields of a form, sentences, and what follows no name.
        ("<form name=\"login_password\"><p>a</p></form>", "<form name=\"login_password\"><p>a</p></form>"),
        ("<meta name=\"keywords\" content=\"token\">", "<meta name=\"keywords\" content=\"token\">"),
        ("<Name>My session</Name><Value>b</Value>", "<Name>My session</Name><Value>b</Value>"),
        ("<Key>a/token.png</Key><Size>7</Size>", "<Key>a/token.png</Key><Size>7</Size>"),
        ("<key>pin</key><true/><string>a</string>", "<key>pin</key><true/><string>a</string>"),
    ]

    @Test("What is longer than any name of a secret is none")
    func longLabel() {
        let label = String(repeating: "a", count: 10_000)
        for name in [label + "pin", "pin-" + label] {
            let text = "<Key>\(name)</Key><Value>b</Value>"
            #expect(Redaction.text(text) == text)
        }
    }

    @Test("A name of a secret is read up to its longest, and no further")
    func longest() {
        for (count, isSecret) in [(SecretName.longest, true), (SecretName.longest + 1, false)] {
            let name = String(repeating: "a", count: count - 4) + "-pin"
            for text in ["<Key>\(name)</Key><Value>b c</Value>", #"{"name":"\#(name)","value":"b c"}"#] {
                #expect((Redaction.text(text) != text) == isSecret, "\(count)")
            }
        }
    }

    @Test("A document that is cut off is one behind a mark of byte order too")
    func marked() {
        let text = "\u{FEFF}<a><Password>hunter2"
        #expect(Redaction.text(text) == "\u{FEFF}<a><Password>‹redacted›")
    }

    @Test("What an element holds that is a secret by its name or its label is redacted", arguments: elements + named)
    func contents(_ text: String, _ shown: String) throws {
        #expect(Redaction.text(text) == shown)
        #expect(Redaction.text(shown) == shown)
        for type in ["text/xml", "application/soap+xml", "text/html; charset=utf-8", nil] {
            #expect(String(decoding: Redaction.content(Data(text.utf8), type: type), as: UTF8.self) == shown)
        }
        let json = try JSONEncoder().encode(["a": text])
        let redacted = Redaction.content(json, type: "application/json")
        #expect(try JSONDecoder().decode([String: String].self, from: redacted) == ["a": shown])
    }
}

/// JSON that is deeper than its levels are told apart.
@Suite(.covers("X10")) struct DeepLabelTests {
    @Test("A label counts on both sides of what is very deep", arguments: [500, 511, 512, 513, 2_000])
    func deep(levels: Int) {
        let (open, close) = (String(repeating: "[", count: levels), String(repeating: "]", count: levels))
        let text = #"{"a":{"name":"password","b":\#(open){"c":"d"}\#(close),"value":"hunter2"},"e":"f"}"#
        #expect(Redaction.text(text) == text.replacing("hunter2", with: "‹redacted›"))
    }
}

/// Markup and JSON in markup, in which signs are written as references.
@Suite(.covers("X10")) struct ReferencedSecretTests {
    static let texts: [(text: String, shown: String)] = [
        (
            "<div data-page=\"{&quot;csrf_token&quot;:&quot;hunter2&quot;,&quot;a&quot;:&quot;b&quot;}\"></div>",
            "<div data-page=\"{&quot;csrf_token&quot;:&quot;‹redacted›&quot;,&quot;a&quot;:&quot;b&quot;}\"></div>"
        ),
        (
            "<r>&lt;login&gt;&lt;password&gt;hunter2&lt;/password&gt; &amp;&apos;&lt;/login&gt;</r>",
            "<r>&lt;login&gt;&lt;password&gt;‹redacted›&lt;/password&gt; &amp;'&lt;/login&gt;</r>"
        ),
        ("{&#34;pin&#x22;:&#X22;a b&quot;}", "{&quot;pin&quot;:&quot;‹redacted›&quot;}"),
        ("{&#000000034;pin&QUOT;&colon;&#x000000022;a b&QUOT;}", "{&quot;pin&quot;:&quot;‹redacted›&quot;}"),
        ("pin&#61;1234", "pin=‹redacted›"), ("pin&equals;1234", "pin=‹redacted›"),
        ("a &amp;quot;pin&amp;quot;:12", "a &amp;quot;pin&amp;quot;:‹redacted›"),
        // What shows nothing without them, other references, and what is none.
        ("<p>a &lt; b &amp;&quot;c&#39;</p>", "<p>a &lt; b &amp;&quot;c&#39;</p>"),
        ("a &pin&#; &#x; &#zz; b", "a &pin&#; &#x; &#zz; b"),
        ("&nbsp;&quot;name&quot;:1", "&nbsp;&quot;name&quot;:1"), ("&quot", "&quot"), ("&quot;", "&quot;"),
    ]

    @Test("What has character references is looked at once without them", arguments: texts)
    func references(_ text: String, _ expected: String) {
        #expect(Redaction.text(text) == expected && Redaction.text(expected) == expected)
        for type in ["text/html", "text/xml", nil] {
            #expect(String(decoding: Redaction.content(Data(text.utf8), type: type), as: UTF8.self) == expected)
        }
    }
}

/// Secrets whose names stand beside them, or before lines of their own.
@Suite(.covers("X10")) struct LabelledSecretTests {
    private func shown(_ text: String, _ type: String?) -> String {
        String(decoding: Redaction.content(Data(text.utf8), type: type), as: UTF8.self)
    }

    static let documents: [(content: String, shown: String)] = [
        (#"[{"name":"password","value":"hunter2"}]"#, #"[{"name":"password","value":"‹redacted›"}]"#),
        (#"{"value":{"a":["hunter2"]},"key":"Api-Key"}"#, #"{"value":{"a":["‹redacted›"]},"key":"Api-Key"}"#),
        (#"{"Key":"token","Value":7}"#, #"{"Key":"token","Value":0}"#),
        (#"{"a":12,"name":"pin","value":-97}"#, #"{"a":12,"name":"pin","value":0}"#),
        (#"{"a":"b","name":"pin","value":1.5e+7}"#, #"{"a":"b","name":"pin","value":0}"#),
        (#"{"headers":[["Authorization","hunter2"]]}"#, #"{"headers":[["Authorization","‹redacted›"]]}"#),
        (
            #"[{"op":"replace","path":"/user/password","value":"hunter2"}]"#,
            #"[{"op":"replace","path":"/user/password","value":"‹redacted›"}]"#
        ),
        (
            #"{"code":"hunter2","grant_type":"authorization_code"}"#,
            #"{"code":"‹redacted›","grant_type":"authorization_code"}"#
        ),
        (#"{"access":"8xLOxBtZp8","refresh":"9yMPyCuAq9"}"#, #"{"access":"‹redacted›","refresh":"‹redacted›"}"#),
        (#"{"d":{"Access":"8xLOxBtZp8","expires_in":60}}"#, #"{"d":{"Access":"‹redacted›","expires_in":60}}"#),
        (#"{"token_type":"Bearer","refresh":"9yMPyCuAq"}"#, #"{"token_type":"‹redacted›","refresh":"‹redacted›"}"#),
        (#"{"access":"aBcDeFgH","refresh":null}"#, #"{"access":"‹redacted›","refresh":null}"#),
        // Words, a name alone or twice, what is too short, and names that stand apart.
        (#"{"access":"public","refresh":"daily","expires":1}"#, #"{"access":"public","refresh":"daily","expires":1}"#),
        (#"{"access":"8xLOxBtZp8"}"#, #"{"access":"8xLOxBtZp8"}"#),
        (#"{"access":"8xLOxBtZp8","access":"a"}"#, #"{"access":"8xLOxBtZp8","access":"a"}"#),
        (#"{"access":"8xLOxBt","refresh":"3600s"}"#, #"{"access":"8xLOxBt","refresh":"3600s"}"#),
        (#"{"access":"at 12:30 today","expires":1}"#, #"{"access":"at 12:30 today","expires":1}"#),
        (#"{"a":{"access":"8xLOxBtZp8"},"expires":1}"#, #"{"a":{"access":"8xLOxBtZp8"},"expires":1}"#),
        // Other labels, sentences, lists of words, and codes of errors.
        (#"{"name":"author","value":"Ada"}"#, #"{"name":"author","value":"Ada"}"#),
        (#"{"name":"My session","value":"a"}"#, #"{"name":"My session","value":"a"}"#),
        (#"{"name":"pin","a":{"value":"b"}}"#, #"{"name":"pin","a":{"value":"b"}}"#),
        (#"{"id":"pin","label":"a","text":"b"}"#, #"{"id":"pin","label":"a","text":"‹redacted›"}"#),
        (#"{"type":"Password","v":"b"}"#, #"{"type":"Password","v":"‹redacted›"}"#),
        (
            #"[{"loc":["body","password"],"input":"a","msg":"b"}]"#,
            #"[{"loc":["body","password"],"input":"‹redacted›","msg":"b"}]"#
        ),
        (
            #"{"rejected_value":"a","field":"user.password"}"#,
            #"{"rejected_value":"‹redacted›","field":"user.password"}"#
        ),
        (#"{"rejectedValue":7,"param":"pin"}"#, #"{"rejectedValue":0,"param":"pin"}"#),
        (#"{"path":"$.a.pin[0]","value":"b"}"#, #"{"path":"$.a.pin[0]","value":"‹redacted›"}"#),
        (#"{"path":["pin",0],"value":"b"}"#, #"{"path":["pin",0],"value":"‹redacted›"}"#),
        (#"{"pointer":"/a/pin","content":"b","val":"c"}"#, #"{"pointer":"/a/pin","content":"b","val":"‹redacted›"}"#),
        (#"{"body":"[[\"pin\",\"a\"]]"}"#, #"{"body":"[[\"pin\",\"‹redacted›\"]]"}"#),
        // What is no name but a number of something, ways that lead elsewhere, and types of other things.
        (#"{"id":"session-7","text":"a"}"#, #"{"id":"session-7","text":"a"}"#),
        (#"{"key":"session-7","text":"a"}"#, #"{"key":"session-7","text":"‹redacted›"}"#),
        // Files and texts of an app, whose names have that of a secret in them.
        (#"{"name":"SessionManager.swift","content":"a"}"#, #"{"name":"SessionManager.swift","content":"a"}"#),
        (#"{"id":"session-notes","text":"a"}"#, #"{"id":"session-notes","text":"a"}"#),
        (#"{"id":"login.password.title","text":"a"}"#, #"{"id":"login.password.title","text":"a"}"#),
        (#"{"id":"login.password","value":"a"}"#, #"{"id":"login.password","value":"‹redacted›"}"#),
        (#"{"k":"access_token","v":"a"}"#, #"{"k":"access_token","v":"‹redacted›"}"#),
        (#"{"label":"authToken","text":"a"}"#, #"{"label":"authToken","text":"‹redacted›"}"#),
        (#"{"k":"Authorization","v":"a"}"#, #"{"k":"Authorization","v":"‹redacted›"}"#),
        (#"{"name":"session-notes","text":"a"}"#, #"{"name":"session-notes","text":"‹redacted›"}"#),
        // What people read of a row of numbers, and what is a translation of one word.
        (#"{"label":"Tokens","value":1200}"#, #"{"label":"Tokens","value":1200}"#),
        (#"{"value":-1.5,"label":"input_tokens"}"#, #"{"value":-1.5,"label":"input_tokens"}"#),
        (#"{"label":"Tokens","value":"a"}"#, #"{"label":"Tokens","value":"‹redacted›"}"#),
        (#"{"label":"new_password","value":["a",7]}"#, #"{"label":"new_password","value":["‹redacted›",0]}"#),
        (#"{"label":"PIN","value":1234}"#, #"{"label":"PIN","value":0}"#),
        (#"{"name":"tokens","value":1200}"#, #"{"name":"tokens","value":0}"#),
        (#"{"key":"tokens","label":"Tokens","value":7}"#, #"{"key":"tokens","label":"Tokens","value":0}"#),
        (#"{"label":"Password","text":"Kennwort"}"#, #"{"label":"Password","text":"Kennwort"}"#),
        (#"{"label":"Password","text":"Le mot de passe ?"}"#, #"{"label":"Password","text":"Le mot de passe ?"}"#),
        (#"{"label":"Password","text":"abcd7"}"#, #"{"label":"Password","text":"‹redacted›"}"#),
        (#"{"label":"Password","text":"ab!c=d"}"#, #"{"label":"Password","text":"‹redacted›"}"#),
        (#"{"label":"Password","text":"aBcd"}"#, #"{"label":"Password","text":"‹redacted›"}"#),
        (#"{"label":"Password","text":7}"#, #"{"label":"Password","text":0}"#),
        (#"{"label":"my_pin","text":"Kennwort"}"#, #"{"label":"my_pin","text":"‹redacted›"}"#),
        (#"{"id":"password","text":"Kennwort"}"#, #"{"id":"password","text":"‹redacted›"}"#),
        (#"{"name":"pin","label":"PIN","text":"a"}"#, #"{"name":"pin","label":"PIN","text":"‹redacted›"}"#),
        (#"{"loc":["password","body"],"input":"a"}"#, #"{"loc":["password","body"],"input":"a"}"#),
        (#"{"locs":["pin"],"input":"a"}"#, #"{"locs":["pin"],"input":"a"}"#),
        (#"{"type":"passwords","v":"b"}"#, #"{"type":"passwords","v":"b"}"#),
        (#"{"path":"src/pin.a","value":"b"}"#, #"{"path":"src/pin.a","value":"b"}"#),
        (#"{"path":"pin.a","value":"b"}"#, #"{"path":"pin.a","value":"b"}"#),
        (#"{"path":{"a":"pin"},"value":"b"}"#, #"{"path":{"a":"pin"},"value":"b"}"#),
        (#"[["pin",null,"a"],["pin",true]]"#, #"[["pin",null,"a"],["pin",true]]"#),
        (#"{"path":"user/password","value":"a"}"#, #"{"path":"user/password","value":"a"}"#),
        (#"["pin","a"]"#, #"["pin","a"]"#), (#"[["pin","a","b"],["a","pin"]]"#, #"[["pin","a","b"],["a","pin"]]"#),
        (#"{"path":"/password/length","value":7}"#, #"{"path":"/password/length","value":7}"#),
        (#"{"code":"E7","key":"a"}"#, #"{"code":"E7","key":"a"}"#),
    ]

    @Test(
        "A value in single quotes, as other languages print what was JSON, is labelled as one in JSON is",
        arguments: [
            (#"{'name': 'password', 'value': 'hunter2'}"#, #"{'name': 'password', 'value': '‹redacted›'}"#),
            (#"[('pin', 'a'), ['pin', 'it\'s']]"#, #"[('pin', 'a'), ['pin', '‹redacted›']]"#),
            (
                #"{'value': ['a', {'b': 'c'}], 'key': 'pin'}"#,
                #"{'value': ['‹redacted›', {'b': '‹redacted›'}], 'key': 'pin'}"#
            ),
            (#"['tis {"name":"pin","value":"a"}]"#, #"['tis {"name":"pin","value":"‹redacted›"}]"#),
            (#"{"name":"pin","it's":1,"value":"a'"}"#, #"{"name":"pin","it's":1,"value":"‹redacted›"}"#),
            (#"{'name': 'title', 'value': 'a'}"#, #"{'name': 'title', 'value': 'a'}"#),
        ])
    func singleQuotes(text: String, expected: String) {
        #expect(Redaction.text(text) == expected && Redaction.text(expected) == expected)
    }

    /// Texts in which one in single quotes has JSON in it, with what is secret there in place of the sign for a currency.
    static let withinSingleQuotes = [
        #"{'body': '{"name":"password","value":"¤"}'}"#,
        #"['{"name":"password","value":"¤"}']"#,
        #"fetch(url, {method: 'POST', body: '{"id":"password","value":"¤"}'})"#,
        #"{'headers': {'x': '[{"name": "token", "value": "¤"}]'}}"#,
        #"{'text': '{\"name\":\"password\",\"value\":\"¤\"}'}"#,
        #"[a, 'tis {"name":"password","value":"¤"}, isn' ]"#,
        #"{"note": "a", 'x {"name": "password", "value": "¤"} y', 1}"#,
        #"{'{"name":"password","value":"¤"}': ''}"#,
        #"{"{\"name\":\"password\",\"value\":\"¤\"}" : ''}"#,
        #"{"t":"{'name':'password','value':'¤'}"}"#,
        #"{\"t\":\"{'name':'password','value':'¤'}\"}"#,
        #"{\"t\":\"{\\\"name\\\":\\\"password\\\",\\\"value\\\":\\\"¤\\\"}\"}"#,
        #"{'body': '{\'name\': \'password\', \'value\': \'¤\'}'}"#,
        #"{'body': '{\'name\': \'password\', \'value\': [\'¤\', {\'a\': \'¤\'}]}'}"#,
        #"{'a': '{\'b\': \'{\\\'name\\\': \\\'password\\\', \\\'value\\\': \\\'¤\\\'}\'}'}"#,
    ]

    @Test(
        "JSON in a text in single quotes is read, as is what has single quotes in any text",
        arguments: withinSingleQuotes)
    func jsonInSingleQuotes(_ text: String) {
        let expected = text.replacing("¤", with: Redaction.mark)
        #expect(Redaction.text(text.replacing("¤", with: "hunter2 x")) == expected)
        #expect(Redaction.text(expected) == expected)
    }

    /// Texts with a member in single quotes whose name says that it is secret.
    static let namedInSingleQuotes: [(text: String, shown: String)] = [
        ("{'a':1,'token':'a b'}", "{'a':1,'token':'‹redacted›'}"),
        ("[{'a':1,'password':'a b'}]", "[{'a':1,'password':'‹redacted›'}]"),
        ("x {'token':'a b'}", "x {'token':'‹redacted›'}"),
        ("{'user':{'token':'a b'},'c':'d'}", "{'user':{'token':'‹redacted›'},'c':'d'}"),
        (#"x {'a':{},'token' : 'it\'s a','b':'c'}"#, "x {'a':{},'token' : '‹redacted›','b':'c'}"),
        (#"x {\'token\':\'a b\',\'c\':\'d\'}"#, #"x {\'token\':\'‹redacted›\',\'c\':\'d\'}"#),
        (#"{'t':'{\'a\':1,\'pin\':\'a\'}'}"#, #"{'t':'{\'a\':1,\'pin\':\'‹redacted›\'}'}"#),
        (#"{"m":"{'a':1,'pin':'a'}"}"#, #"{"m":"{'a':1,'pin':'‹redacted›'}"}"#),
        (#"{'to\u006ben':'a'} "#, #"{'to\u006ben':'‹redacted›'} "#),
        ("{u'a':1,u'pin':u'b'}", "{u'a':1,u'pin':u'‹redacted›'}"),
        ("{b'a':1,b'pin':b'b'}", "{b'a':1,b'pin':b'‹redacted›'}"),
        ("x={'a':{'pin':'b'}};'c'", "x={'a':{'pin':'‹redacted›'}};'c'"),
        ("{'a':1,'pin':'b';'c':'d'}", "{'a':1,'pin':'‹redacted›';'c':'d'}"),
        // One of the two in other quotes or in none.
        (#"{"a":1,"pin":'b c'}"#, #"{"a":1,"pin":‹redacted›}"#),
        (#"{'a':1,'pin':"b c"}"#, #"{'a':1,'pin':"‹redacted›"}"#),
        ("{a:1,my_pin:'b c',d:'e'}", "{a:1,my_pin:'‹redacted›',d:'e'}"),
        ("x {my-pin : 'b c'}", "x {my-pin : '‹redacted›'}"),
        ("{name:'pin',value:'b c'}", "{name:'pin',value:'‹redacted›'}"),
        ("{'a':1,'pin':123,'b':2}", "{'a':1,'pin':‹redacted›,'b':2}"),
        ("{'a':1,'pin':-1.5}", "{'a':1,'pin':‹redacted›}"),
        ("{'a':1,'pin':b_c1 d1}", "{'a':1,'pin':‹redacted› d1}"),
        ("{'a':1,'token':aB.c,d:2}", "{'a':1,'token':‹redacted›,d:2}"),
        // All that stands in a list or an object, and nothing behind it.
        (
            "{'pins':['a',\"b\",7,{'c':'d','e':[]}],'pin':[['f'],'g'],'h':'i'}",
            "{'pins':['a',\"b\",7,{'c':'d','e':[]}],'pin':[['‹redacted›'],'‹redacted›'],'h':'i'}"
        ),
        (
            "{'pin':{'a':'b','c':\"d\",'e':12,'f':None},'g':5}",
            "{'pin':{'a':'‹redacted›','c':\"‹redacted›\",'e':0,'f':None},'g':5}"
        ),
        ("{'session':[{'pin':['a']},'b'],'c':'d'}", "{'session':[{'pin':['‹redacted›']},'‹redacted›'],'c':'d'}"),
        ("{'pin':['a','b'", "{'pin':['‹redacted›','‹redacted›'"), ("{'a':1,'pin':''}", "{'a':1,'pin':''}"),
        // What tells nothing, and what is no member or another one's.
        ("{'a':1,'pin':None,'b':'c','token':true}", "{'a':1,'pin':None,'b':'c','token':true}"),
        ("{'pin','a'}", "{'pin','a'}"), ("['pin','a']", "['pin','a']"), ("{'pin':[],'a':'b'}", "{'pin':[],'a':'b'}"),
        ("{'a':'pin','b':'c'}", "{'a':'pin','b':'c'}"), ("{'pin' is 'a','b':'c'}", "{'pin' is 'a','b':'c'}"),
        ("{a pin,'b':'c'}", "{a pin,'b':'c'}"), ("{'author':'Ada','a':'b'}", "{'author':'Ada','a':'b'}"),
        ("{'pin':{}, 'a':7}", "{'pin':{}, 'a':7}"), ("{'a':{'pin':None},'b':7}", "{'a':{'pin':None},'b':7}"),
    ]

    @Test(
        "A member in single quotes is secret by its own name, wherever it stands and without a space",
        arguments: namedInSingleQuotes)
    func membersInSingleQuotes(_ text: String, _ expected: String) {
        #expect(Redaction.text(text) == expected && Redaction.text(expected) == expected)
        #expect(shown(text, "text/plain") == expected)
    }

    @Test(
        "What has apostrophes and names no secret stays as it was",
        arguments: [
            "It's the users' list [1, 'tis done], don't", "{'a': 'it\\'s', 'b': \"isn't [that]\"}",
            #"{'text': '{\'name\': \'title\', \'value\': \'a\'}'}"#, #"[a, 'tis, {it's "so"}, 'twas]"#,
            #"{"t":"{'name':'title','value':'a'}"}"#, #"{'a': 'b\\', 'c': '{"name":"title","value":"a"}'}"#,
        ])
    func apostrophes(_ text: String) {
        #expect(Redaction.text(text) == text)
    }

    @Test("Texts in single quotes are read however often one stands in another", arguments: 0...6)
    func quotedAgain(_ count: Int) {
        func text(_ secret: String) -> String {
            (0..<count).reduce(#"[["pin","\#(secret)"]]"#) { text, _ in
                "['\(text.replacing("\\", with: #"\\"#).replacing("'", with: #"\'"#))']"
            }
        }
        #expect(Redaction.text(text("hunter2 x")) == text(Redaction.mark))
    }

    /// It would take minutes if what is in quotes were searched again from each of them.
    @Test("The time for what is in quotes grows with its length alone", .timeLimit(.minutes(1)))
    func manyQuotes() {
        for part in ["[,'a", ",'[\"',", ",\\'[\"", "['[\\'[\\\\\\'[", "['a':\"{'b':"] {
            let many = String(repeating: part, count: (64 << 10) / part.utf8.count)
            #expect(LabelledText.make(of: "[\(many)") == nil)
        }
        let backslashes = (0..<350).map { ",\(String(repeating: "\\", count: $0))'[\"" }.joined()
        #expect(LabelledText.make(of: "[\(backslashes)") == nil)
    }

    @Test("A value in JSON is secret where what stands beside it names it so", arguments: documents)
    func labels(_ content: String, _ expected: String) {
        #expect(shown(content, "application/json") == expected)
        #expect(shown(content, nil) == expected)
        #expect(shown("{}\n\(content)\n[", "application/x-ndjson") == "{}\n\(expected)\n[")
        #expect(shown("id: 1\ndata: \(content)\n\n", "text/event-stream") == "id: 1\ndata: \(expected)\n\n")
    }

    static let told: [(text: String, shown: String)] = [
        (
            #"refused: {"errors":[{"field":"pin","rejectedValue":"a b"}]} by x"#,
            #"refused: {"errors":[{"field":"pin","rejectedValue":"‹redacted›"}]} by x"#
        ),
        // Cut off, escaped, several times within each other, and behind what is no JSON.
        (#"{"headers":[{"name":"Cookie","value":"a b"#, #"{"headers":[{"name":"Cookie","value":"‹redacted›"#),
        (#"{\'name\':\'pin\',\'value\':\'b c\'}"#, #"{\'name\':\'pin\',\'value\':\'‹redacted›\'}"#),
        (#"{"a":{"path":["pin"],"value":"b c"}}"#, #"{"a":{"path":["pin"],"value":"‹redacted›"}}"#),
        (#"{"path":"a[pin]","value":"b c"}"#, #"{"path":"a[pin]","value":"‹redacted›"}"#),
        (#"{"path":["pin"],"value":{"a":["b c"#, #"{"path":["pin"],"value":{"a":["‹redacted›"#),
        (#"x={\"name\":\"pin\",\"value\":\"a b\"}"#, #"x={\"name\":\"pin\",\"value\":\"‹redacted›\"}"#),
        (
            #"{"a":"{\"b\":\"[[\\\"pin\\\",\\\"c d\\\"]]\"}"}"#,
            #"{"a":"{\"b\":\"[[\\\"pin\\\",\\\"‹redacted›\\\"]]\"}"}"#
        ),
        (#"[a {] "b" {"name":"pin","value":"c d"}"#, #"[a {] "b" {"name":"pin","value":"‹redacted›"}"#),
        (#"{"name":"pin","value":7} {"value":8}"#, #"{"name":"pin","value":0} {"value":8}"#),
        (#"{"name":"pin","value":{"a":[-1.5,true,"b"]}}"#, #"{"name":"pin","value":{"a":[0,true,"‹redacted›"]}}"#),
        (#"{"name":"pin","value":[1],"a":2}"#, #"{"name":"pin","value":[0],"a":2}"#),
        (
            #"{\"name\":\"pin\",\"value\":{\"a\" : \"b c\"}}"#,
            #"{\"name\":\"pin\",\"value\":{\"a\" : \"‹redacted›\"}}"#
        ),
        // What tells nothing, and what is no JSON.
        (#"{"name":"pin","value":null}"#, #"{"name":"pin","value":null}"#),
        (#"{"name":"pin","value":true}"#, #"{"name":"pin","value":true}"#),
        (#""name":"pin","value":"a b""#, #""name":"pin","value":"a b""#),
        (#"{"name":"a","value":"pin"}"#, #"{"name":"a","value":"pin"}"#),
        (#"{"name":"pin"},{"value":"a b"}"#, #"{"name":"pin"},{"value":"a b"}"#),
    ]

    @Test("A value that is labelled is found in any text of JSON, whole or not", arguments: told)
    func labelsInTexts(_ text: String, _ expected: String) {
        #expect(Redaction.text(text) == expected && Redaction.text(expected) == expected)
        #expect(Redaction.value(text, of: "X-N") == expected)
        guard text != expected else { return }
        let form = text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        #expect(Redaction.query("a=\(form)&b=1") == "a=‹redacted›&b=1")
    }

    @Test("What JSON and parameters print of a value goes by what stands beside it")
    func labelsInValues() throws {
        let headers: JSONValue = [["name": "Authorization", "value": "hunter2"], ["name": "a", "value": "b"]]
        #expect("\(headers)" == #"[{"name": "Authorization", "value": ‹redacted›}, {"name": "a", "value": "b"}]"#)
        let pairs: JSONValue = ["h": [["pin", "hunter2"], ["pin", 7, "a"]]]
        #expect("\(pairs)" == #"{"h": [["pin", ‹redacted›], ["pin", 7, "a"]]}"#)
        #expect("\(JSONValue.array(["pin", "a"]))" == #"["pin", "a"]"#)
        let rows: JSONValue = [["label": "Tokens", "value": 12], ["label": "PIN", "value": 12]]
        #expect("\(rows)" == #"[{"label": "Tokens", "value": 12}, {"label": "PIN", "value": ‹redacted›}]"#)
        let row: ParameterObject = ["label": "Tokens", "value": 12]
        #expect("\(row)" == #"["label": "Tokens", "value": 12]"#)
        let told: JSONValue = ["loc": ["body", "pin"], "input": ["a": "hunter2"]]
        #expect("\(told)" == #"{"input": {"a": ‹redacted›}, "loc": ["body", "pin"]}"#)
        #expect("\(JSONValue.object(["loc": ["pin", "a"], "input": 7]))" == #"{"input": 7, "loc": ["pin", "a"]}"#)
        #expect("\(JSONValue.string(#"[["pin","hunter2"]]"#))" == #""[[\"pin\",\"‹redacted›\"]]""#)
        let parameters: ParameterObject = [
            "name": "password", "value": "hunter2", "list": [["pin", "hunter2"]],
            "way": ["loc": ["pin"], "input": 7] as ParameterObject,
        ]
        let text =
            #"["name": "password", "value": ‹redacted›, "list": [["pin", ‹redacted›]], "way": ["loc": ["pin"], "input": ‹redacted›]]"#
        #expect("\(parameters)" == text)
        var dumped = ""
        dump(parameters, to: &dumped)
        #expect(!dumped.contains("hunter2"))
        #expect("\(ParameterObject([("name", "a"), ("value", "b")]))" == #"["name": "a", "value": "b"]"#)
    }

    static let texts: [(text: String, shown: String)] = [
        ("data: {\"password\":\ndata: \"hunter2\"}", "data: {\"password\":\ndata: \"‹redacted›\"}"),
        ("data: {\"pin\"\ndata: :\nid: 7\ndata: 12}", "data: {\"pin\"\ndata: :\nid: 7\ndata: ‹redacted›}"),
        (#"{"password": /*c*/ "hunter2""#, #"{"password": /*c*/ "‹redacted›""#),
        (#"{"p\in": /*c*/"hunter2""#, #"{"p\in": /*c*/"‹redacted›""#),
        ("{\"password\": // c\n \"hunter2\"", "{\"password\": // c\n \"‹redacted›\""),
        ("password: |\n  hunter2\n  more\n\n  end\na: b", "password: |\n  ‹redacted›\na: b"),
        ("a:\n  - token: >-\n      hunter2\n    b: c", "a:\n  - token: >-\n      ‹redacted›\n    b: c"),
        ("X-Api-Key: |2 # c\r\n  hunter2\r\na: b", "X-Api-Key: |2 # c\r\n  ‹redacted›\r\na: b"),
        ("\"password\": |\n hunter2\n", "\"password\": |\n ‹redacted›\n"),
        // What begins no line of an event, a block of something else, and one without lines.
        ("\"pin\": data: 7", "\"pin\": ‹redacted› 7"), ("note: |\n  hunter2", "note: |\n  hunter2"),
        ("\"pin\": 7 /* 8 */", "\"pin\": ‹redacted› /* 8 */"),
    ]

    @Test("A value is found behind comments, on the next line of an event, and in a block of lines", arguments: texts)
    func gaps(_ text: String, _ expected: String) {
        #expect(Redaction.text(text) == expected)
        #expect(Redaction.text(expected) == expected)
    }

    @Test("A block is found in a long text as in a short one")
    func blockInLongText() {
        let rest = String(repeating: "a: b\n", count: 200)
        #expect(Redaction.text("password: | # c\n  hunter2\n\(rest)") == "password: | # c\n  ‹redacted›\n\(rest)")
    }

    private static let part = "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nhunter2\r\n"
    private static let plain = "--b\r\nContent-Type: text/plain\r\n\r\ntoken=hunter2&a=b\r\n"

    @Test(
        "A body of several parts is read as a form is, whatever its type says",
        arguments: ["multipart/mixed; boundary=b", "application/octet-stream", nil])
    func parts(_ type: String?) {
        let expected = (Self.part + Self.plain).replacing("hunter2", with: "‹redacted›") + "--b--\r\n"
        #expect(shown(Self.part + Self.plain + "--b--\r\n", type) == expected)
        // What seems to be a form and cannot be read as one goes whole.
        #expect(shown(Self.part + "x", type) == Redaction.mark)
        #expect(shown("--b\r\na token=hunter2", type) == "--b\r\na token=‹redacted›")
    }
}

/// Texts whose encoding is told, or shows itself late.
@Suite(.covers("X10")) struct RedactedEncodingTests {
    static let encodings: [(encoding: String.Encoding, name: String)] = [
        (.utf16BigEndian, "utf-16be"), (.utf16LittleEndian, "UTF-16LE"), (.utf16LittleEndian, "utf-16"),
        (.utf16BigEndian, "utf-16"), (.utf32BigEndian, "utf-32be"), (.utf32LittleEndian, "utf-32"),
    ]

    @Test("A text that begins with what is not Latin is read in the encoding that it has", arguments: encodings)
    func wide(_ encoding: String.Encoding, _ name: String) throws {
        for text in ["„password=hunter2", "日本 {\"password\":\"hunter2\"}", "Ā\npassword: hunter2"] {
            let content = try #require(text.data(using: encoding))
            for type in ["text/plain; charset=\(name)", "text/plain", "application/json; charset=\(name)"] {
                let shown = String(decoding: Redaction.content(content, type: type), as: UTF8.self)
                #expect(shown.contains("‹redacted›") && !shown.contains("hunter2"), "\(type)")
            }
        }
        let plain = try #require("„a".data(using: encoding))
        #expect(Redaction.content(plain, type: "text/plain; charset=\(name)") == plain)
    }

    @Test("A charset that is wrong hides nothing, and content in one that cannot be read is not kept")
    func otherCharsets() throws {
        let text = Data("a password=hunter2".utf8)
        #expect(Redaction.content(text, type: "text/plain; charset=utf-16") == Data("a password=‹redacted›".utf8))
        for charset in ["utf-7", "IBM037", "cp1047", "x-ebcdic-us"] {
            let response = HTTPResponse(
                status: 200, fields: [.contentType: "text/plain; charset=\(charset)"], body: text)
            let request = HTTPRequest(method: .get, url: try HTTPURL("https://a.example/"))
            #expect(throws: WithheldContent("its charset is \(charset.lowercased())")) {
                try Redaction.content(of: response, to: request)
            }
            #expect(Redaction.content(text, type: "text/plain; charset=\(charset)") == Data(Redaction.mark.utf8))
        }
        let broken = Data([0xDC, 0x00, 0xDC, 0x00, 0xDC, 0x00])
        #expect(Redaction.content(broken, type: "text/plain; charset=utf-16be") == Data(Redaction.mark.utf8))
        #expect(Redaction.content(broken, type: "text/plain") == broken)
    }
}
