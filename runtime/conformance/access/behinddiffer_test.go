package access

import (
	"regexp"
	"strings"
)

// general takes away what is different in every row, and why it may be.
func general(text string) string {
	for line, why := range map[string]string{
		"X-Content-Type-Options: nosniff": "our server sets it on every answer of its own, as it does everywhere",
		"Www-Authenticate: Bearer":        "our server says how to log in, as it does everywhere",
		"Cookie: a=b":                     "a cookie may be a credential, and our server passes on none",
		"Accept-Encoding: gzip": "kube-aggregator's transport asks for gzip where the client doesn't, and unpacks " +
			"the answer, which loses its length; ours passes on what the client asks for",
	} {
		if why != "" {
			text = strings.ReplaceAll(text, "\n"+line+"\n", "\n")
		}
	}
	text = ownMark.ReplaceAllString(text, "\n") // kube-aggregator doesn't notice that a request comes back
	text = streamNumber.ReplaceAllString(text, "Content-Length: <length>$1 <number>")
	return timeout.ReplaceAllString(text, "<timeout>") // net/http says one or the other
}

// streamNumber is the number of a stream in an error of a proxy, which counts the requests before.
var streamNumber = regexp.MustCompile(`Content-Length: \d+(\nContent-Type: [^\n]*\nbody "[^"\n]*stream ID) \d+`)

// ownMark is the line by which our server recognizes its own requests.
var ownMark = regexp.MustCompile(`\nVia: 1\.1 apigen-[0-9a-f]{32}\n`)

var timeout = regexp.MustCompile(
	`(net/http: request canceled|context deadline exceeded)( \(Client\.Timeout exceeded while awaiting headers\))?`)

// differences are reasons why ours does something else, by rows' names.
var differences = []struct {
	rows *regexp.Regexp
	why  string
}{
	{regexp.MustCompile(`^GET (\.\.?/|a/\.\./|a//|a%00|a%2f|.*%2e%2e)`),
		"two servers could read the path differently, so that no other server gets it"},
	{regexp.MustCompile(`^GET /apis/(odd\.behind\.example\.com/v2|odd.*v1x|unknown)|a request$|^documents: deleted$`),
		"our server answers 404 with a Status everywhere"},
	{regexp.MustCompile(`^GET /apis/odd\.behind\.example\.com/?$`), "our server compresses documents, and says so"},
	{regexp.MustCompile(`^POST /apis/odd`), "discovery is read with GET everywhere"},
	{regexp.MustCompile(`^GET (switch|other|namespaces/x/things/y/exec/switch|` +
		`(closed|empty|garbage|moved|status500|text403|unmodified) \(2\)|plain \(9\))`),
		"kube-aggregator dials upgrades past its transport: without X-Forwarded-*, with other texts of errors, " +
			"without its own headers in the answer, and to another protocol than the client asked for"},
	{regexp.MustCompile(`^GET code0`), "kube-apiserver panics, and closes the connection"},
	{regexp.MustCompile(`^GET huge$`), "headers of answers are bounded to 1 MiB"},
	{regexp.MustCompile(`^(GET|HEAD) headers$`), "kube-apiserver answers with two Audit-Ids"},
	{regexp.MustCompile(`^GET plain \(8\)$`), "our control plane of the test has no anonymous users"},
	{regexp.MustCompile(`^GET plain\?`), "the query passes as the client wrote it, with the same meaning"},
	{regexp.MustCompile(`^GET trailers$`), "kube-apiserver loses the values of trailers"},
	{regexp.MustCompile(`^GET unasked$`), "the words of the error are ours"},
	{regexp.MustCompile(`^GET zipped$`), "kube-aggregator's transport asks for gzip by itself"},
	{regexp.MustCompile(`^POST created`), "kube-apiserver shows the backend's address, which clients can't reach"},
	{regexp.MustCompile(`^PUT plain$`), "kube-apiserver loses headers of an answer behind 100 Continue"},
	{regexp.MustCompile(`^condition: badbundle$`), "kube-aggregator says nothing in the status"},
	{regexp.MustCompile(`^documents: `),
		"of a backend without aggregated discovery, kube-aggregator leaves kinds without group and version, and " +
			"forgets the resources when the backend is away"},
	{regexp.MustCompile(`^locals: deletion of builtin v1\.batch$`), "ours has no group batch"},
	{regexp.MustCompile(`^locals: (deletion|edit) of builtin`),
		"kube-apiserver restores these when it starts; ours does at once, so that no group goes missing"},
}

// reasonOf returns why a row is different on purpose, or "". It is the same in HTTP/2.
func reasonOf(name string) string {
	name = strings.TrimPrefix(name, overHTTP2)
	for _, d := range differences {
		if d.rows.MatchString(name) {
			return d.why
		}
	}
	return ""
}
