"""What each rule hides, and the look-alikes that it leaves alone."""

import random
import string
from base64 import b64encode, urlsafe_b64encode
from hashlib import sha256

import pytest

from mnemolog.policy.redaction import Redactor
from tests.policy import redaction_samples as samples

REDACTOR = Redactor(b"k")
BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
CHANCE = random.Random(11)
HEX40, HEX64 = samples.drawn(CHANCE, samples.HEX, 40), samples.drawn(CHANCE, samples.HEX, 64)
BASE64_88 = samples.drawn(CHANCE, samples.STANDARD, 86) + "=="
UUID = "-".join(samples.drawn(CHANCE, samples.HEX, length) for length in (8, 4, 4, 4, 12))
LONG = "aB3" * 13 + "-x_9"
OBJECT = samples.drawn(CHANCE, samples.HEX, 24)

LEFT_ALONE = [
    "Change-Id: I" + "0a1b2c3d4e" * 4,
    # commits, digests, ids
    f"commit {HEX40}", f"Merge: {HEX40[:7]} {HEX64[:7]}", HEX40, f"{HEX64}  file.tar.gz",
    f"sha256:{HEX64}", f"image@sha256:{HEX64}", f"Digest: sha256:{HEX64}", UUID, f"id: {UUID}",
    f"{{{UUID.upper()}}}", f"session {OBJECT}", f"mem_{OBJECT}abcd", "sess-2026-11-15-9f3a1c77d2",
    f"index {HEX40[:8]}..{HEX64[:8]} 100644", f"etag: {HEX40[:32]}", "01ARZ3NDEKTSV4RRFFQ69G5FAV",
    f"key: {UUID}", f'"keys": ["{UUID}",\n "{UUID}"]', f"primary key: {UUID}",
    f"stat snapshot  key=\"sha256:{HEX64}\" parent=\"\"", f"prepare key={HEX64}-init-key parent=a",
    f"Public key: {HEX64}", f"cache key: {HEX40}", f"scriptPubKey={HEX40}", f"0x{'aB3c9' * 8}",
    f"no class DoctrineProxy_{HEX40[:32]} here",
    f"https://matrix.to/#/!a:b.org/${LONG}?via=b.org",
    f"![a](https://host.net/images?q=tbn:{LONG}&s)", f'"x": "{LONG}",', f'"n":"{LONG}"',
    "PV UUID  hn17WV-wcKs-0QcT-iqTD-WfbE-22p2-JQm4HQ",
    # names of what there is in a program
    "auth: CheckPut for normal user", "auth: AclCache in auth store",
    "- getSecrets -> getSecretsByName",
    "Merge pull request #4 from a/test_TestPushToCentralRegistryUnauthorized",
    "Modified TestInspectApiCpusetInConfigPre120 and", "Standardize API keys: CamelCase",
    "Failed: `NumberTest::testParseTypeInt64StubWith64BitIntegerInPhp64Bit`",
    "  -initial-cluster-token etcd-cluster-1 \\",
    # what came out of a test, and what is measured
    "Symfony2 tests pass: [![Build Status](https://a.b/c.png)](https://a.b/c)",
    "- Functional tests pass: `feature_a.py`", "PASS: qt/test/test_bitcoin-qt", "InlinePass: -58%",
    # sentences and settings
    'test: unreliable "nvim.zip … incorrect password" #41159', "only if -torpassword (J. Doe)",
    "with -torcontrol and -torpassword settings. To show", "Add --grant-secret hostconfig option",
    'identified by "gcc/gcc-32". They will run', "-o user=USER,password=PASSWORD,vers=3,port=1",
    'run --network "name=a-b,key1=val1,key2=val2" b', "password: '%env(MONGODB_PASSWORD)%'",
    "redis://%env(resolve:REDIS_PASSWORD)%@%env(resolve:REDIS_HOST)%",
    # lock files
    f'      "integrity": "sha512-{BASE64_88}",', f"  integrity sha512-{BASE64_88}",
    f"golang.org/x/crypto v0.1.0 h1:{BASE64_88[:43]}=", f'checksum = "{HEX64}"',
    f'    {{file = "keyring-24.3.0-py3-none-any.whl", hash = "sha256:{HEX64}"}},',
    '"js-tokens": "^4.0.0"', "jsonwebtoken@9.0.2:", 'password-prompt: "^1.1.2"',
    '"illuminate/auth": "self.version"', r'"JWTAuth": "Tymon\\Facades\\JWTAuth"',
    "github.com/martini-contrib/auth v0.0.0-20150219114609-fa62c19b7ae8/go.mod h1:abc=",
    # git logs
    "Author: Jane Doe <jane@doe.org>", "    Co-authored-by: J. Doe <j@doe.org>",
    "    Signed-off-by: bot[bot] <support@host.com>", "git clone git@github.com:a/b.git",
    "Co-authored-by: J. Doe j@doe.org", "Signed-off-by: jane(jane@doe.org)",
    # code
    "password: str", "password = getpass()", "token = os.environ['API_TOKEN']", "api_key=api_key,",
    "def login(user, password): ...", 'secret = config["secret"]', "if password is None:",
    "const token = await getToken(user);", "this.password = password;", "max_tokens: 4096",
    'parser.add_argument("--password")', "primaryKey: 'user_id'", 'key="name"',
    "SECRET_NAME = 'db'", "salt = os.urandom(16)", "nonce_size=12", 'Credentials(user, "x")',
    "type Password struct {", "password_hash = hash(password)", "tokens = text.split()",
    'cache_key = "user:42"', "keys = sorted(found)", "pass", "bypass = True", "token: Token",
    # stand-ins
    "password=changeme", 'api_key = "<your key>"', "TOKEN=${TOKEN}", "PASSWORD=$PASSWORD",
    'api_key: "xxxxxxxxxxxxxxxx"', "password: ********", 'token = "YOUR_API_TOKEN"', "secret: null",
    'password: "{{ vault.password }}"', "pwd=%PASSWORD%", 'apiKey: process.env.API_KEY',
    "sk_live_xxxxxxxxxxxxxxxxxxxxxxxx", "private_key: /etc/ssl/private/host.pem",
    "password: !vault |", "Authorization: Bearer <token>", "Authorization: Bearer $TOKEN",
    # sentences
    "I forgot my password and token.", "The key is to rest.", "Please reset the password today",
    "a password with sha256 or argon2", "use bearer authentication", "cookie: yes please",
    "a change must pass: `make check`", "the password for user 'jane' is reset",
    'password: "Enter your password"', "the token island2 is far", "auth tools 4you22",
    "support the --ask-pass option", "--ssl-key and --ssl-cert",
    "rename `req->userpwd` to `req->hd_auth`", "add url_password to 'cleanse' list",
    "Port htpasswd to python3 syntax", "rename db_password to 'passphrase'",
    "a password is --method=sha-512 now", 'if userpwd is "username:", it is blank',
    "all are now 100% Pass: N35, N3K", "auth: cleanups", "AUTH=XOAUTH2 in the URL",
    "by ;AUTH=XOAUTH or", "AUTH=SCRAM-SHA-256 is known", "'update_password': 'on_create'",
    f'"client_token": "hmac-sha256:{HEX64}"', "between 'Build-" + "0a1b2c3d4e" * 4 + "' and",
    # flags that are spoken of
    "say that --tls-password takes a password", "made --pass work on a private key as well.",
    "a short form of --ask-vault-pass (#80527)", "tell of --ask-su-pass #9846",
    "fix --ask-pass prompt", "--mail-auth documented", "--no-ntlm-auth renamed to --no-ntlm",
    "The secret to happiness is 42.", "pass the salt: it is 3 pm", "my key takeaways: 1, 2",
    'works are identified as "derived from the Data', 'each user is identified by "name9" and',
    "rows identified by 'id9' alone", "auth: AuthType", "    token: TokenType | None",
    "secret: SecretBox", "credentials: HTTPBasicAuth", "fun:_ZN4node16NodeMainInstance3RunEvX9",
    # public keys are known by their digests
    f"gpg --recv-keys {HEX40.upper()} # Jane", f"apt-key adv --recv-keys {HEX40[:16].upper()}",
    # commands whose flags and names only look like a password's
    "zip -r my-project.zip src", "zip -r out.zip my-package", "gzip -k my-path",
    "zip command with --path option", "unzip -p archive9.zip notes9.txt", "7z a my-package9.7z src",
    "unzip -d out foo-python.zip", "mysql -h host -P3306 shop",
    # where a shell works
    "PWD=/root", "A=1\nOLDPWD=/workspace\nB=2", "export PWD=/srv1", '{"PWD": "/app"}',
    '[[ "$PWD" == "/usr"* ]]', "pwd: /root",
    # what a function gives, names of things kept, and other basics
    "def read(source: str, token: Token) -> CodeBlock:", 'BUNDLE_STORAGE_KEY = "x-bundled"',
    "auth: a Basic MockPool is made", "a key of a basic 10-digit number",
    # numbers
    "2024-03-15 10:22:33", "2024-03-15T10:22:33.123456Z", "version 10.15.7.1234", "192.168.100.200",
    "order 4111111111111112", "1700000000000", "3.14159265358979", "12-34-5678", "000-12-3456",
    "GB82 WEST 1234 5698 7654 33", "from 2019 to 2024 and 555 more", "0.4111111111111111",
    "phone: 2024-03-15", "ISBN 978-3-16-148410-0", "range 100-200-3000", "port 127.0.0.1:55432",
    # almost e-mail
    "icon@2x.png", "lodash@4.17.21", "@types/node", "user@localhost", "a@b", "me @ home.org",
    "x = y@z", "https://medium.com/@author/post", "ssh-ed25519-cert-v01@openssh.com",
    # ids of messages
    "Discussion: https://postgr.es/m/20210802164124.ufo5buo4apl6yuvs@host.example.org",
    "see https://lists.host.org/m/CAD21AoADYz_eAqH5AVFaCaojPW=u8kgTMys63oB8Cw@mail.host.org",
    f"https://lists.host.org/m/{UUID}@host.org", f"https://{UUID}@host.org",
    "https://postgr.es/m/CAMT0RQRysCb_Amy5CTENSc5GfsvXL1a4qX3mv_hx31_v74P==g@mail.host.com",
    "https://lists.host.org/m/YRHxXcyFjPuPTZui@host.org",
    "Message-ID: <3603504.1652068977@host.org>",
    "Submitted by: Jane Doe <jane@doe.org>", "298 424 656 882 939 1630 1807 2263",
    # what somebody has to fill in
    "redis://:PASSWORD@localhost:6379/0", "postgres://USER:DB_PASSWORD@db/x", "http://U:PWD@h",
    # what tests, programs and arrows say
    "--- PASS: TestAccSubnet_ipv6 (188.34s)", "PASS: test/udev-test9.pl", "passwords = 0x0",
    "open_pin (pin=0x55b3cc0, ret_password=0x7fffffffd380,", "require_auth=scram-sha-256",
    "1. Password + salt -> Argon2id -> a key", "rename 'password' -> 'key_file'",
    'js-tokens: "npm:^4.0.0"', 'config.secret_key_base = "secret_key_base"',
    "attach data /my-pass tpm2-device=auto", "drop --import-credential mention from the page",
    "docker run -v $(pwd):$(pwd) -w $(pwd) fedora:37 sh", "pwd is one/2_two/three/",
    "LoadCredential=name:/run/creds9.sock", "--load-credential=a.b1:/home/me/keys",
    "SECRET=$HOME/.config/credential2.secret", "add mac-less password-base PKCS12 files",
    "credentials: 'same-origin',", "pub secret_key: OptValue<Secret<String>>,",
    "fix(next-auth): AppRouteHandlerFnContext type (#12901)",
    "the argument to --smtp-pass has been rendered", '"AUTH=CRAM-MD5"',
    'the password is "locked"', 'PASSWORD is "not recommended"',
    "Update `Passwords` `rules()` to", f"Job AJ-{UUID} was not run",
    "debug:" + urlsafe_b64encode(b'{"createdInVer":"43.59.0","target":"main"}').decode(),
    # tables, lines below, places for values
    "| password | string | the 2nd |", "| token | yes | 2 |", "password:\n  type: string2",
    "Secrets:\n  app-1.2.3\n", 'f"Server={s};PWD={password};"', 'f";PWD={self.password};"',
    "127.0.0.1:5432:5432", f"https://host/x?id={UUID}", "session_id=sess-2026-11-15-9f3a1c77d2",
    # public keys
    f"ssh-rsa AAAA{BASE64_88}", f'"ssh_key": "ssh-rsa AAAA{BASE64_88 * 3} me@host"',
    f"-----BEGIN PUBLIC KEY-----\n{BASE64_88[:64]}\n-----END PUBLIC KEY-----",
]  # fmt: skip


@pytest.mark.parametrize("text", LEFT_ALONE)
def test_what_is_no_secret_is_left_alone(text):
    found = REDACTOR.text(text)
    assert found.text is text, found.text


VALUE = "q7Rk2" + samples.drawn(CHANCE, samples.WORD, 20)
HIDDEN = [
    # every usual syntax
    "API_KEY={}", "export API_KEY={}", 'api_key: "{}"', '"apiKey": "{}"', "'api-key' => '{}'",
    'apiKey := "{}"', "api_key='{}', timeout=3", '<apiKey>{}</apiKey>', '<a apiKey="{}"/>',
    '{{\\"apiKey\\": \\"{}\\"}}', "api.key={}", "[x]\napi_key = {}\n", 'env "API_KEY" = "{}"',
    "- name: API_KEY\n  value: {}", '{{"name":"API_KEY","value":"{}"}}', 'setApiKey("{}")',
    "https://host/x?api_key={}&y=1", "x-api-key: {}", "--api-key {}", "--api-key={}",
    "api_key: str = '{}'", 'Tokens: []string{{"{}"}}', 'key = []byte("{}")',
    "key = unhexlify('{}')", "SALT={}", 'nonce="{}"', "authsalt: {}", "DB_PW={}", "auth token {}",
    'secrets = ["{}"]', "**API key:** {}", "api_key = b'{}'",
    'token = SecretStr("{}")', "access_token%3D{}%26x",
    # headers
    "Authorization: Bearer {}", '"Authorization": "token {}"', "-H 'authorization: Bearer {}'",
    "Proxy-Authorization: Basic {}", "Bearer {}", "Cookie: session={}; a=b", "Set-Cookie: sid={};",
    '{{"name": "Cookie", "value": "sid={}"}}',
    # commands
    "zip -r -P {} a.zip b", "unzip -P{} a.zip", "7z x -p{} a.7z", "zip --password {} a.zip",
    "mysql -uroot -p{} db", "sshpass -p {} ssh host", "docker login -u me -p {} host",
    "curl -u me:{} https://h", "PGPASSWORD={} psql", "redis-cli -h host -a {} ping",
    "CREATE USER a IDENTIFIED BY '{}';", "ALTER ROLE a WITH PASSWORD '{}';",
    "grant all on a to b identified by '{}'", "CREATE USER a\nIDENTIFIED WITH b AS '{}';",
    "  identified by '{}';",
    "ALTER ROLE some_very_long_name_of_a_role PASSWORD '{}';", "vault operator unseal {}",
    "Unseal Key 2: {}", 'new NetworkCredential("me", "{}")', "HTTPBasicAuth('me', '{}')",
    "machine host login me password {}", "openssl enc -passin pass:{} -in x",
    "ConvertTo-SecureString '{}' -AsPlainText", "echo {} | sudo -S ls",
    "az login --service-principal -u me -p {} --tenant t", "twine upload -u me -p {} dist",
    "openssl enc -aes-256-cbc -k {} -in a",
    # colours of a terminal, and signs written as codes
    "\x1b[32mAPI_KEY\x1b[0m=\x1b[1m{}\x1b[0m", "DB_\x1b[01;31m\x1b[KPASSWORD\x1b[m\x1b[K={}",
    r"\u001b[36mAPI_KEY\u001b[0m=\u001b[1m{}\u001b[0m", r"\033[1mtoken: \033[0m{}",
    "{{&quot;password&quot;:&quot;{}&quot;}}", "api_key=&#34;{}&#34;", "secret=&#x27;{}&#x27;",
    r"{{\u0022token\u0022:\u0022{}\u0022}}", "https://h/x?a=1&amp;api_key={}&amp;b=2",
    r"https://h/x?sv=1\u0026sig={}\u0026se=2",
    # tables, lines below, connections, sessions
    "| user | b |\n| password | {} |", "| **API key** | `{}` | for tests |",
    "Password:\n  {}\n", "DB_PASSWORD:\r\n{}", "Server=h;UID=sa;PWD={{{}}};",
    '"Driver={{A B}};Pwd={{{}}}"', "db.host:5432:shop:app:{}", "PHPSESSID={}", "jsessionid={}",
    "import_secret_key={}", "tool --load-token={}",
    # addresses
    "postgres://app:{}@db/x", "https://{}@host/a.git", "amqp://u:{}@h:5672/v",
    "app:{}@tcp(db:3306)/x",
    # sentences in several languages
    "the password is {}", "my password: {}", "use the API key {} now",
    "secret key: {}", "Passwort: {}", "contraseña: {}", "senha: {}",
    "пароль: {}", "密码是{}", "密码\uff1a{}", "パスワードは{}", "비밀번호: {}", "mot de passe: {}",
]  # fmt: skip


@pytest.mark.parametrize("place", HIDDEN)
def test_a_secret_is_hidden_wherever_it_is_written(place):
    text = place.format(VALUE)
    found = REDACTOR.text(text).text
    assert VALUE not in found
    before = place.format("\0").split("\0")[0]
    assert found.startswith(before), "what stands before the secret stays"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("sql_password: cGFzc3dvcmQ=", "cGFz"),  # no type, and no default after it
        ("password: 'open sesame'", "sesame"),
        ("password: 'pas:swo:rd'", "pas:"),
        ("password: 'lalala'", "lalala"),
        ("password: 'hello<ther>e'", "ther"),
        ("oauth_token = '123456789'", "1234"),
        ("docker run -e A=b -e ROOT_PASSWORD=verysecret", "very"),
        ("TWITTER_OAUTH_KEY=twitteroauthkey", "twitteroauth"),
        ("Server=a;User Id=b;Password=thing_of_mine;Database=c", "mine"),
        ("password:   somePASSWORD", "somePASS"),
        ("set the password to 'tigerlily'", "tigerlily"),
        ("I changed db_password to 'tigerlily'", "tigerlily"),
        ("please reset the password to hunter2x", "hunter2x"),
        ("Pass: hunter2x, user: me", "hunter2x"),
        ("auth: hunter2x", "hunter2x"),
        ("secret: tigerlily", "tigerlily"),
        ("AUTH=A7XK29QVB3 in the file", "A7XK"),
        ("'update_password': 'hunter2x'", "hunter2x"),
        ("'admin_password': 'on_create'", "on_create"),
        ("storePassword = 'tigerlily'", "tigerlily"),
        ("query: `auth-password=myAuthPassword&domain=b`", "myAuth"),
    ],
)
def test_a_password_made_by_a_person_is_hidden_too(text, secret):
    assert secret not in REDACTOR.text(text).text


@pytest.mark.parametrize(
    "flag",
    [
        "--password tigerlily", "--password tigerlily --verbose", "--password tigerlily host.org",
        "--password=tigerlily is what I use", "--password 'tigerlily' is what I use",
        "--password tigerlily9 is what I use", "--ask-pass=tigerlily", "--http-auth tigerlily99",
        "--password '#9846'", "--client-secret tigerlily", "--password tigerlily shop users",
    ],
)  # fmt: skip
def test_a_flag_that_is_used_gives_its_value(flag):
    found = REDACTOR.text(f"tool {flag}").text
    assert "tigerlily" not in found
    assert "9846" not in found


def test_basic_credentials_are_known_by_what_they_say():
    """Without a digit they look like a word; decoded they are a name and a password."""
    login = b64encode(b"user:pass").decode()
    assert not any(map(str.isdigit, login))
    assert REDACTOR.text(f'header: "Basic {login}"').counts == {"password": 1}
    assert not REDACTOR.text('header: "Basic headphones"').counts


def test_a_long_value_without_quotes_is_hidden_to_its_end():
    value = samples.drawn(CHANCE, samples.WORD, 900)
    assert REDACTOR.text(f"TOKEN={value} and so on").text.endswith("] and so on")


@pytest.mark.parametrize(
    "text",
    [
        "a@b.org", "first.last+tag@sub.example.co.uk", "<a@b.org>", "mailto:a@b.org",
        "邮箱是a_b@c.cn。",
        "o'neil@host.ie", "x@xn--bcher-kva.example", "ÄÖ@host.de",
    ],
)  # fmt: skip
def test_addresses_of_all_forms_are_hidden(text):
    assert REDACTOR.text(text).counts == {"email": 1}


@pytest.mark.parametrize(
    "text",
    [
        "+1 (212) 555-0100", "+1-212-555-0100", "(212) 555-0100", "212-555-0100", "212.555.0100",
        "+49 30 901820", "+86 138 0013 8000", "phone: 030 901820", "手机号码是13800138000",
        "tel. 555 0100 22",
        "+442079460958", "1-800-555-0199", "whatsapp 07700 900123",
    ],
)  # fmt: skip
def test_phone_numbers_are_hidden(text):
    assert REDACTOR.text(text).counts == {"phone": 1}, REDACTOR.text(text)


@pytest.mark.parametrize("gap", ["", " ", "-"])
def test_cards_and_accounts_are_hidden_with_and_without_gaps(gap):
    for _ in range(20):
        card = samples.card_number(CHANCE)
        grouped = gap.join(card[at : at + 4] for at in range(0, len(card), 4))
        assert REDACTOR.text(f"pay {grouped} now").text == "pay [REDACTED:card] now"
        account = samples.iban(CHANCE).replace(" ", "" if gap == "-" else gap)
        assert REDACTOR.text(f"to {account}.").text == "to [REDACTED:iban]."


def test_two_numbers_side_by_side_are_no_card():
    card = samples.card_number(CHANCE)
    for at in (7, 8):
        assert not REDACTOR.text(f"Merge: {card[:at]} {card[at:]}").counts


def test_a_wrong_check_digit_makes_it_just_a_number():
    for _ in range(20):
        card = samples.card_number(CHANCE)
        wrong = card[:-1] + str((int(card[-1]) + 1) % 10)
        assert REDACTOR.text(f"order {wrong}").counts == {}


BODY = [samples.drawn(CHANCE, samples.STANDARD, 64) for _ in range(6)]


@pytest.mark.parametrize("name", ["RSA ", "EC ", "OPENSSH ", "ENCRYPTED ", "", "DSA "])
@pytest.mark.parametrize("line", ["\n", "\\n", "\r\n", '\\n" +\n  "'])
@pytest.mark.parametrize("is_whole", [True, False])
def test_private_keys_are_hidden_whole_or_cut_off(name, line, is_whole):
    end = f"{line}-----END {name}PRIVATE KEY-----" if is_whole else ""
    text = f"before -----BEGIN {name}PRIVATE KEY-----{line}{line.join(BODY)}{end}"
    found = REDACTOR.text(text).text
    assert found.startswith("before [REDACTED:private-key:")
    assert not any(part in found for part in BODY)


def test_text_after_a_cut_off_key_stays():
    text = f"-----BEGIN PRIVATE KEY-----\n{BODY[0]}\n\nThat is all I have. What now?"
    assert REDACTOR.text(text).text.endswith("That is all I have. What now?")


def test_letters_that_change_their_length_in_lower_case_move_nothing():
    assert REDACTOR.text("İİİİ password=hunter2 İ").text == "İİİİ password=[REDACTED:password] İ"


def test_a_long_random_word_needs_no_name():
    word = "".join(CHANCE.sample(string.ascii_letters + string.digits, 40)) + "7aB"
    assert REDACTOR.text(f"use {word} for it").counts == {"api-key": 1}


def test_of_a_list_of_settings_only_the_password_is_hidden():
    given = REDACTOR.text("mount -o user=jane,password=hunter2,vers=3").text
    assert given == "mount -o user=jane,password=[REDACTED:password],vers=3"


def test_an_address_behind_the_port_of_another_is_known_as_one():
    found = REDACTOR.text("https://127.0.0.1:9033/login?user=jane@example.org&expires=16")
    assert found.counts == {"email": 1}


def test_what_coins_are_sent_to_is_left_alone_and_what_spends_them_is_not():
    def written(prefix, size):
        raw = prefix + bytes(range(size))
        raw += sha256(sha256(raw).digest()).digest()[:4]
        number, word = int.from_bytes(raw), ""
        while number:
            number, rest = divmod(number, 58)
            word = BASE58[rest] + word
        return "1" * (len(raw) - len(raw.lstrip(b"\0"))) + word

    for prefix in (b"\x6f", b"\x05"):
        assert not REDACTOR.text("send it to " + written(prefix, 20)).counts
    assert REDACTOR.text("import " + written(b"\xef", 33)).counts == {"api-key": 1}


def test_text_in_base64_is_no_word_by_chance():
    said = b64encode(b"index dbccd4..0b8c446 100755\n--- a/test/functional/wallet.py").decode()
    assert not REDACTOR.text(said[:64]).counts


LINE = "aB3" * 21 + "x"
CERTIFICATE = "-----BEGIN CERTIFICATE-----"


@pytest.mark.parametrize(
    "name",
    [
        "CERTIFICATE",
        "CERTIFICATE REQUEST",
        "NEW CERTIFICATE REQUEST",
        "PUBLIC KEY",
        "RSA PUBLIC KEY",
        "PGP PUBLIC KEY BLOCK",
        "PGP SIGNATURE",
        "SSH SIGNATURE",
    ],
)
@pytest.mark.parametrize("end", ["\n", "\n    ", "\n> ", "\\n", "\\r\\n"])
def test_the_lines_of_what_is_public_are_left_alone(name, end):
    lines = [f"-----BEGIN {name}-----", *[LINE] * 90, LINE[:44], f"-----END {name}-----"]
    assert not REDACTOR.text(end.join(["see", *lines])).counts


def test_the_headers_of_a_signature_do_not_hide_what_it_is():
    head = ["-----BEGIN PGP SIGNATURE-----", "Version: GnuPG v2", "Comment: a", ""]
    assert not REDACTOR.text("\n".join([*head, *[LINE] * 9, "=aB3c"])).counts


def test_a_line_that_only_a_certificate_has_needs_no_beginning():
    first, names = "MIIDsDCC" + LINE[:56], LINE[:20] + "YDVQQ" + LINE[:39]
    assert not REDACTOR.text(first).counts
    assert not REDACTOR.text(names).counts


@pytest.mark.parametrize(
    "before",
    [
        "",
        f"{CERTIFICATE} my token:\n",
        f"{CERTIFICATE}\n{LINE}\n-----END CERTIFICATE-----\n",
        "-----BEGIN PRIVATE KEY-----\n",
    ],
)
def test_such_a_line_anywhere_else_is_hidden(before):
    assert REDACTOR.text(f"{before}{LINE[1:]}").text.count(LINE[1:]) == before.count(LINE)


@pytest.mark.parametrize("name", ["api_key", "HEROKU_API_KEY", "token", "client_secret"])
def test_a_uuid_is_hidden_where_its_name_says_that_it_opens_something(name):
    assert UUID not in REDACTOR.text(f"{name}: {UUID}").text


@pytest.mark.parametrize(
    "place", ["\x1b[1m{}\x1b[0m", "\x1b[31m\x1b[K{}\x1b[m\x1b[K", r"\u001b[1m{}"]
)
def test_a_token_is_hidden_behind_a_colour_and_the_colour_stays(place):
    token = "hvs." + samples.drawn(CHANCE, samples.WORD, 40)
    found = REDACTOR.text("made " + place.format(token))
    assert found.counts == {"api-key": 1}
    before, after = place.split("{}")
    assert found.text.startswith("made " + before + "[REDACTED:api-key:")
    assert found.text.endswith("]" + after)


def test_a_token_of_two_colours_is_hidden_whole():
    token = "ghp_" + samples.drawn(CHANCE, samples.WORD, 36)
    found = REDACTOR.text(f"a \x1b[1m{token[:9]}\x1b[0m{token[9:]} b")
    plain = REDACTOR.text(f"a {token} b").text
    assert found.counts == {"api-key": 1}
    assert found.text.replace("\x1b[1m", "")[:9] == plain[:9]
    assert token[9:] not in found.text
    assert token[:9] not in found.text


def test_a_key_of_two_words_opens_something():
    assert REDACTOR.text(f"API key: {UUID}").counts == {"api-key": 1}
