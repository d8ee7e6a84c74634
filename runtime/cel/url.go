package cel

import (
	"net/url"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// urls has url, isURL and the methods of a URL.
type urls struct{ plain }

var urlClass = &class[*url.URL]{
	typ: celgo.ObjectType("kubernetes.URL"), name: "URL",
	equal: func(a, b *url.URL) bool { return a.String() == b.String() },
	text:  (*url.URL).String,
}

// LibraryName returns Kubernetes' name.
func (urls) LibraryName() string { return "kubernetes.urls" }

// CompileOptions declares the functions.
func (urls) CompileOptions() []celgo.EnvOption {
	str, typ := celgo.StringType, urlClass.typ
	part := func(id string, f func(*url.URL) string) []celgo.FunctionOpt {
		return []celgo.FunctionOpt{member(id, signature(typ), str,
			on(func(u *url.URL) ref.Val { return types.String(f(u)) }))}
	}
	return declarations{
		"url":            {global("string_to_url", signature(str), typ, on(parseURL))},
		"isURL":          {global("is_url_string", signature(str), celgo.BoolType, on(isURL))},
		"getScheme":      part("url_get_scheme", func(u *url.URL) string { return u.Scheme }),
		"getHost":        part("url_get_host", func(u *url.URL) string { return u.Host }),
		"getHostname":    part("url_get_hostname", (*url.URL).Hostname),
		"getPort":        part("url_get_port", (*url.URL).Port),
		"getEscapedPath": part("url_get_escaped_path", (*url.URL).EscapedPath),
		"getQuery":       {member("url_get_query", signature(typ), celgo.MapType(str, celgo.ListType(str)), on(query))},
	}.options()
}

// parseURL accepts absolute URLs and absolute paths. ParseRequestURI decides which text is one, and Parse, which knows
// fragments, parses it.
func parseURL(s string) ref.Val {
	_, err := url.ParseRequestURI(s)
	if err == nil {
		var u *url.URL
		if u, err = url.Parse(s); err == nil {
			return urlClass.of(u)
		}
	}
	return types.NewErr("URL parse error during conversion from string: %v", err)
}

func isURL(s string) ref.Val {
	_, err := url.ParseRequestURI(s)
	return types.Bool(err == nil)
}

func query(u *url.URL) ref.Val {
	out := map[ref.Val]ref.Val{}
	for key, values := range u.Query() {
		out[types.String(key)] = types.NewStringList(types.DefaultTypeAdapter, values)
	}
	return types.NewRefValMap(types.DefaultTypeAdapter, out)
}
