package scrub

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

// specs begin a dump of a container's specification, as the kubelet and containerd log it when a
// container cannot start: it has the values of all environment variables, and nothing in it is
// evidence.
var specs = [][]byte{[]byte("&Container{"), []byte("EnvVar{"), []byte("&ContainerConfig{"), []byte("Envs:[]"), []byte("Envs:["), []byte("&PodSandboxConfig{")}

const specRemoved = "[container specification removed]"

// Outgoing appends what may leave the node of a log line: without the specification of a
// container, and without what looks like a credential. It masks more than String does, also by the
// names of keys alone, and is meant for lines that are sent to somebody else.
func Outgoing(dst, line []byte, more ...*regexp.Regexp) []byte {
	return outgoing(dst, line, mostQuoted, more)
}

// mostQuoted is how deep quotations are read that have quotations in them: an error in an error in JSON has three.
const mostQuoted = 4

var quotation = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// unquoted masks what quoted texts say, such as errors of others. They are written anew only if something in them was masked.
func unquoted(text string, depth int, more []*regexp.Regexp) string {
	if depth == 0 || !strings.Contains(text, `\`) {
		return text
	}
	return quotation.ReplaceAllStringFunc(text, func(q string) string {
		said, err := strconv.Unquote(q)
		if !strings.Contains(q, `\`) || err != nil && json.Unmarshal([]byte(q), &said) != nil {
			return q
		}
		masked := string(outgoing(nil, []byte(said), depth-1, more))
		if masked == said {
			return q
		}
		return strconv.Quote(masked)
	})
}

func outgoing(dst, line []byte, depth int, more []*regexp.Regexp) []byte {
	end := len(line)
	for _, s := range specs {
		if i := bytes.Index(line, s); i >= 0 {
			end = min(end, i)
		}
	}
	text := string(appendMasked(nil, []byte(unquoted(string(line[:end]), depth, more))))
	for i := range masks {
		text = masks[i].apply(text)
	}
	if strings.Contains(text, "@tcp(") || strings.Contains(text, "@udp(") || strings.Contains(text, "@unix(") {
		text = dsn.ReplaceAllString(text, removed+"URL password"+closing+"(")
	}
	text = maskOpaque(text)
	for _, re := range more {
		text = re.ReplaceAllString(text, removed+"by your pattern"+closing)
	}
	dst = append(dst, text...)
	if end < len(line) {
		dst = append(dst, specRemoved...)
	}
	return dst
}

// begun is the first word of what stands in place of a credential.
const begun = "[credential"

// A mask replaces the groups of an expression that have a secret.
type mask struct {
	kind string
	// words are in small letters. The expression begins at one of them, so that the many lines
	// without any cost little.
	words  []string
	re     *regexp.Regexp
	spares func(secret string) bool // whether it is none; nil: never
}

// Bounds of one mask on one line, which anybody may write: how much text after a word the
// expression sees, and how many words it is tried at.
const (
	longest   = 2 << 10
	mostTries = 100
)

const restRemoved = "[rest of the line removed: too many keys]"

func (m *mask) apply(text string) string {
	lower := smallLetters(text)
	var out strings.Builder
	at := 0
	for from, tries := 0, 0; ; tries++ {
		i := m.next(lower, from)
		if i < 0 {
			break
		}
		if tries == mostTries {
			return out.String() + text[at:max(at, i)] + restRemoved
		}
		from = i + 1
		if i < at {
			continue // within what was removed
		}
		part := text[i:min(len(text), i+longest)]
		g := m.re.FindStringSubmatchIndex(part)
		for k := 2; k+1 < len(g); k += 2 {
			start, end := i+g[k], i+g[k+1]
			if g[k] < 0 || end <= start || strings.HasPrefix(text[start:end], begun) || m.spares != nil && m.spares(text[start:end]) {
				continue // it was removed before, or is no secret
			}
			if end == i+len(part) { // it goes on behind what the expression sees
				more := strings.IndexAny(text[end:], " \"'")
				if end += more; more < 0 {
					end = len(text)
				}
			}
			out.WriteString(text[at:start])
			out.WriteString(removed + m.kind + closing)
			at, from = end, max(from, end)
		}
	}
	if at == 0 {
		return text
	}
	return out.String() + text[at:]
}

// next finds the first of the words from a position on.
func (m *mask) next(lower string, from int) int {
	first := -1
	for _, w := range m.words {
		if i := strings.Index(lower[from:], w); i >= 0 && (first < 0 || from+i < first) {
			first = from + i
		}
	}
	return first
}

// smallLetters changes only ASCII, so that positions stay.
func smallLetters(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c | 0x20
		}
	}
	return string(b)
}

// A value after a key: in quotes to the closing one, which may be escaped as in JSON in JSON, else
// to the next space, comma or bracket.
const (
	quoted = `"((?:[^"\\]|\\.)*)"|\\+"((?:[^"\\]|\\[^"\\])*)\\+"|'([^']*)'`
	bare   = `([^\s"',;&}\])]+(?:[,;&][^\s"',;&}\])=:]*[0-9!@#$%^*][^\s"',;&}\])=:]*)*)`
)

// names are parts of keys whose values are secrets, and passwords those that no message has before
// a colon.
var (
	passwords = []string{"password", "passwd", "passphrase", "passcode", "_pass", "-pass", "requirepass", "pwd", "密码", "口令"}
	names     = []string{"secret", "token", "credential", "apikey", "api_key", "api-key", "accesskey", "access_key", "access-key", "privatekey", "private_key", "private-key", "accountkey", "account_key", "authkey", "auth_key"}
)

// rest is what may follow in the name of a key, and given what comes between a key and its value.
const (
	rest  = `^[\p{L}0-9_.\-]{0,64}\\{0,8}["']?`
	given = `(?:\s*(?:=>?|：)\s*|:)(?:` + quoted + `|` + bare + `)`
	colon = `\s*:\s+(?:` + quoted + `|` + bare + `)`
)

var masks = []mask{
	{"value of a variable", []string{"name", "key"}, regexp.MustCompile(`(?i)^(?:name|key)\\*"?\s*:\s*\\*"?[\w.\-]+\\*"?[\s,]+\\*"?value\\*"?\s*:\s*(?:` + quoted + `|([^\s,}\]]+))`), plainWord},
	{"value of a variable", []string{"pass", "pwd", "secret", "token"}, regexp.MustCompile(`^[\w.\-]{0,64}"\s+"([^"]+)"`), plainWord},
	{keyKind, passwords, regexp.MustCompile(rest + given), plainWord},
	{keyKind, names, regexp.MustCompile(rest + given), setting},
	{keyKind, passwords, regexp.MustCompile(rest + colon), plainWord},
	{keyKind, names, regexp.MustCompile(rest + colon), message},
	{keyKind, []string{"pw"}, regexp.MustCompile(`(?i)^pw\s*[=:：]\s*(?:` + quoted + `|` + bare + `)`), plainWord},
	{"password", []string{"password"}, regexp.MustCompile(`(?i)^password(?:\s+is|\s+was)?\s+(?:"([^"]+)"|'([^']+)'|([^\s"';,]*[0-9][^\s"';,]*))`), nil},
	{"password", []string{"password is"}, regexp.MustCompile(`(?i)^password\s+is\s+([^\s"';,]+)`), plainWord},
	{"token of a service", []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xox", "hvs.", "hvb.", "hvr.", "sk_live_", "sk_test_", "rk_live_", "npm_", "dop_v1_", "aiza", "ya29.", "k8s-aws-v1."}, regexp.MustCompile(`^([\w\-./+=]{12,})`), nil},
	{"age key", []string{"age-secret-key-1"}, regexp.MustCompile(`(?i)^(age-secret-key-1[a-z0-9]+)`), nil},
	{"webhook", []string{"hooks.slack.com/services/"}, regexp.MustCompile(`(?i)^hooks\.slack\.com/services/(\S+)`), nil},
	{"URL password", []string{"://"}, regexp.MustCompile(`^://[^\s:/@"'<>]*:([^\s"'<>]*)@[\w.\-\[]`), digest},
	{"URL password", []string{"://"}, regexp.MustCompile(`^://([^\s:/@"'<>]{8,})@[\w.\-\[]`), nil},
	{"signature", []string{"sig=", "x-amz-signature=", "x-amz-credential=", "x-amz-security-token=", "x-goog-signature="}, regexp.MustCompile(`^[^=]+=([^&\s"']+)`), nil},
	{"cookie", []string{"cookie"}, regexp.MustCompile(`(?i)^cookie\\*"?\s*:\s*(\S.*)$`), nil},
	{"authorization", []string{"authorization"}, regexp.MustCompile(`(?i)^authorization\\*"?\s*[:=]\s*\[?\\*"?(?:(?:bearer|basic|digest|negotiate)\s+)?([^\s"'\]\\]+)`), plainWord},
	{"authorization", []string{"bearer"}, regexp.MustCompile(`(?i)^bearer\s+([A-Za-z0-9._~+/=\-]{6,})`), plainWord},
	{"registry credentials", []string{`"auth\"`, `"auth"`}, regexp.MustCompile(`(?i)^"auth\\*"\s*:\s*\\*"([^"\\]+)`), nil},
	{"registry credentials", []string{"dockerc"}, regexp.MustCompile(`(?i)^dockerc(?:fg|onfigjson)\\*"?\s*[:=]\s*\\*"?([^\s"\\]+)`), nil},
	{"argument", []string{"redis-cli", "mysql", "curl", "sshpass"}, regexp.MustCompile(`(?i)^(?:redis-cli\b.{0,200}?[\s"',]-a|mysql(?:dump|admin)?\b.{0,200}?[\s"',]-p|curl\b.{0,200}?[\s"',](?:-u|--user)|sshpass[\s"',]+-p)[\s"',]*([^\s"',]+)`), nil},
	{"argument", []string{"--pass", "--token", "--secret", "-password", "--pwd"}, regexp.MustCompile(`(?i)^--?[a-z\-]{0,32}["',\s]+([^\s"',\-][^\s"',]*)`), plainWord},
	{"key", []string{"mii", "mhc", "mhq", "mig", "b3blbnnzac1r"}, regexp.MustCompile(`^((?:MII|MHc|MHQ|MIG|b3BlbnNzaC1r)[A-Za-z0-9+/]{8,}={0,2})`), nil},
	{"encoded text", []string{"data", "dsn", "key", "cert"}, regexp.MustCompile(`(?i)^(?:data|dsn|key|cert)[\w.\-]*\\*"?\s*:\s*\\*"?([A-Za-z0-9+/]{8,}={0,2})(?:["\\\s,}]|$)`), identifier},
}

// dsn finds USER:PASSWORD@tcp(HOST), which begins with any name.
var dsn = regexp.MustCompile(`[\w.\-]+:([^\s@"']+)@(?:tcp|udp|unix)\(`)

// leastOpaque is the length from which text of the alphabets of base64 may be a credential by itself.
const leastOpaque = 32

// maskOpaque masks text that looks as random bytes do in base64.
func maskOpaque(text string) string {
	var out strings.Builder
	at := 0
	for i := 0; i < len(text); i++ {
		if !coded[text[i]] {
			continue
		}
		from := i
		for i < len(text) && (coded[text[i]] || text[i] == '.' && i+1 < len(text) && coded[text[i+1]]) {
			i++
		}
		for i < len(text) && text[i] == '=' && (i+1 == len(text) || !coded[text[i+1]]) { // padding
			i++
		}
		if run := text[from:i]; len(run) >= leastOpaque && !ordinary(run) {
			out.WriteString(text[at:from])
			out.WriteString(removed + "opaque text" + closing)
			at = i
		}
	}
	if at == 0 {
		return text
	}
	return out.String() + text[at:]
}

// coded are the characters of base64 but the padding, which is also between a name and its value.
var coded = set(alphanumeric + "+/_-")

// digest reports an image reference, HOST:PORT/PATH@DIGEST, which looks like USER:PASSWORD@HOST.
func digest(s string) bool { return portAndPath.MatchString(s) }

var portAndPath = regexp.MustCompile(`^[0-9]{1,5}/[a-z0-9._/\-]+$`)

// setting reports durations and numbers: the cache of tokens has a time to live.
func setting(s string) bool { return plainWord(s) || number.MatchString(s) }

// identifier reports IDs in hexadecimal, paths, numbers and words.
func identifier(s string) bool {
	return message(s) || number.MatchString(s) || s[0] == '/' || strings.Trim(s, "0123456789abcdef") == ""
}

var number = regexp.MustCompile(`^[0-9][0-9a-z.]{0,11}$`)

// message reports what follows a key and a colon in a message: words, and no secret.
func message(s string) bool {
	return plainWord(s) || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz-") == ""
}

// plainWord reports words that messages have where a secret could be: "token: expired".
func plainWord(s string) bool {
	s = strings.Trim(s, `"'.,:;()[]{}<>`)
	switch strings.ToLower(s) {
	case "", "true", "false", "null", "nil", "none", "not", "no", "is", "was", "and", "or", "the", "a", "an", "of", "for", "in", "to", "from", "with", "invalid", "expired",
		"missing", "empty", "unauthorized", "forbidden", "failed", "error", "required", "rpc", "unset", "redacted", "***", "<nil>", "object", "could", "cannot", "must", "has", "have", "token", "tokens":
		return true
	}
	return false
}

// ordinary reports opaque text that is none: IDs in hexadecimal, UUIDs, paths and names. What a
// credential's bytes become in base64 has capitals, small letters and digits mixed.
func ordinary(s string) bool {
	var upper, lower, digits, slashes, dashes int
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'A' && c <= 'Z':
			upper++
		case c >= 'a' && c <= 'z':
			lower++
		case c >= '0' && c <= '9':
			digits++
		case c == '/':
			slashes++
		case c == '-' || c == '_':
			dashes++
		}
	}
	mixed := upper >= 4 && lower >= 4 && digits >= 2
	return !mixed || slashes*8 > len(s) || dashes*5 > len(s)
}
