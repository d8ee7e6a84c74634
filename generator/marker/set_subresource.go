package marker

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"apigen.dev/generator/model"
)

func setScale(k *model.Kind, u *Use) {
	if u.arg("specpath") == "" {
		u.Errorf("marker \"+%s\" needs specpath=, where the number of replicas that is wanted stands", u.Name)
		return
	}
	k.Scale = &model.Scale{
		SpecPath: u.arg("specpath"), StatusPath: u.arg("statuspath"), SelectorPath: u.arg("selectorpath"), Pos: u.Pos,
	}
}

var subresourcePattern = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

// builtin are the subresources that other declarations ask for, and how.
var builtin = map[string]string{
	"status": "a Status field says so already",
	"scale":  "write +kubebuilder:subresource:scale:specpath=.spec.replicas",
}

func addSubresource(k *model.Kind, u *Use) {
	s := model.SubresourceMarker{Name: u.arg("name"), ContentType: u.arg("contentType"), Pos: u.Pos}
	switch {
	case s.Name == "":
		u.Errorf("marker \"+%s\" needs name=", u.Name)
		return
	case !subresourcePattern.MatchString(s.Name):
		u.Errorf("%q is no name of a subresource: it needs lower-case letters and digits, as in log or port-forward",
			s.Name)
		return
	case builtin[s.Name] != "":
		u.Errorf("the subresource %s needs no +%s: %s", s.Name, u.Name, builtin[s.Name])
		return
	}
	s.Methods = u.methods()
	if subpath, said := u.Arg("subpath"); said {
		var err error
		if s.Subpath, err = strconv.ParseBool(subpath); err != nil {
			u.Errorf("subpath=%s of marker \"+%s\" is neither true nor false", subpath, u.Name)
		}
	}
	k.Subresources = append(k.Subresources, s)
}

// httpMethods are those that a connection may serve.
var httpMethods = []string{"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"}

// methods returns the HTTP methods of an argument, sorted; nil where it isn't there.
func (u *Use) methods() []string {
	var out []string
	for _, method := range SplitList(u.arg("methods")) {
		if method == "*" {
			out = slices.Clone(httpMethods)
			break
		}
		if method = strings.ToUpper(method); !slices.Contains(httpMethods, method) {
			u.Errorf("%q is no HTTP method: known are %s, or * for all", method, strings.Join(httpMethods, ", "))
			continue
		}
		out = append(out, method)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
