package access

import (
	"regexp"
	"strings"
)

// general takes away what is different in every row, and why it may be.
func general(name, text string) string {
	for line, why := range map[string]string{
		"X-Content-Type-Options: nosniff": "our server sets it on every answer of its own, as it does everywhere",
		"Www-Authenticate: Bearer":        "our server says how to log in, as it does everywhere",
		"Accept-Encoding: gzip": "kube-aggregator's transport asks for gzip where the client doesn't, and unpacks the " +
			"answer, which loses its length; ours passes on what the client asks for",
	} {
		if why != "" && !strings.HasSuffix(name, "(2)") {
			text = strings.ReplaceAll(text, "\n"+line+"\n", "\n")
		}
	}
	return text
}

// differences are reasons why ours does something else, by rows' names.
var differences = []struct {
	rows *regexp.Regexp
	why  string
}{}

// reasonOf returns why a row is different on purpose, or "".
func reasonOf(name string) string {
	for _, d := range differences {
		if d.rows.MatchString(name) {
			return d.why
		}
	}
	return ""
}
