package cel

import (
	"fmt"
	"net/url"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

var urlClass = &class[*url.URL]{
	typ: celgo.ObjectType("kubernetes.URL"), name: "URL",
	equal: func(a, b *url.URL) bool { return a.String() == b.String() },
	text:  (*url.URL).String,
}

// urlFunctions are url, isURL and the methods of a URL.
func urlFunctions() functions {
	str := celgo.StringType
	return functions{
		"url":            {global("string_to_url", unaryOrError(parseURL))},
		"isURL":          {global("is_url_string", unary(succeeds(url.ParseRequestURI)))},
		"getScheme":      {member("url_get_scheme", unary(func(u *url.URL) string { return u.Scheme }))},
		"getHost":        {member("url_get_host", unary(func(u *url.URL) string { return u.Host }))},
		"getHostname":    {member("url_get_hostname", unary((*url.URL).Hostname))},
		"getPort":        {member("url_get_port", unary((*url.URL).Port))},
		"getEscapedPath": {member("url_get_escaped_path", unary((*url.URL).EscapedPath))},
		"getQuery":       {member("url_get_query", unary(query).returns(celgo.MapType(str, celgo.ListType(str))))},
	}
}

// parseURL accepts absolute URLs and absolute paths. ParseRequestURI decides which text is one, and Parse, which knows
// fragments, parses it.
func parseURL(s string) (u *url.URL, err error) {
	if _, err = url.ParseRequestURI(s); err == nil {
		u, err = url.Parse(s)
	}
	if err != nil {
		return nil, fmt.Errorf("URL parse error during conversion from string: %w", err)
	}
	return u, nil
}

func query(u *url.URL) map[ref.Val]ref.Val {
	out := map[ref.Val]ref.Val{}
	for key, values := range u.Query() {
		out[types.String(key)] = types.NewStringList(types.DefaultTypeAdapter, values)
	}
	return out
}
