// Package zpages has the pages by which administrators look into a running server, in kube-apiserver's formats: /flagz
// and /statusz, as text or as objects, /debug/flags/v, which changes what the server logs, and profiles.
//
// It may know packages negotiation and respond.
package zpages

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"apigen.dev/runtime/internal/http/negotiation"
	"apigen.dev/runtime/internal/http/respond"
	"github.com/munnerz/goautoneg"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// component is the name of kube-apiserver in its own pages.
const component = "apiserver"

const group = "config.k8s.io"

// versions are the versions of the objects. Clients of the deprecated one get a warning.
var versions = map[string]bool{"v1alpha1": true, "v1beta1": false}

const plainText = "text/plain"

// mediaTypes are those of a page, in the order in which the server prefers them.
var mediaTypes = []string{"application/json", "application/yaml", plainText}

// page is a page that clients get as text, or as an object of a kind.
type page struct {
	kind string
	// text returns the text that follows the head, and object the object of the kind and apiVersion in it.
	text   func() string
	object func(metav1.TypeMeta) any
}

// head begins the text of a page.
const head = "\n%s %s\n" +
	"Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees " +
	"and is for debugging purposes only.\n"

// ServeHTTP answers with text, or with an object if the client asks for its kind: application/json;v=v1beta1;
// g=config.k8s.io;as=Flagz.
func (p page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	mediaType, version, err := p.negotiate(r.Header.Get("Accept"))
	if err != nil {
		respond.Error(w, r, err)
		return
	}
	if mediaType == plainText {
		w.Header().Set("Content-Type", plainText+"; charset=utf-8")
		_, _ = fmt.Fprintf(w, head+"%s", component, strings.ToLower(p.kind), p.text()) // the client may have gone
		return
	}
	data, err := json.Marshal(p.object(metav1.TypeMeta{Kind: p.kind, APIVersion: group + "/" + version}))
	if err == nil && mediaType == "application/yaml" {
		data, err = yaml.JSONToYAML(data)
	}
	if err != nil {
		respond.Error(w, r, err)
		return
	}
	if versions[version] {
		respond.AddWarnings(w.Header(), []string{fmt.Sprintf("This version of the %s endpoint is deprecated. "+
			"Please use a newer version.", strings.ToLower(p.kind))})
	}
	w.Header().Set("Content-Type", fmt.Sprintf("%s;g=%s;v=%s;as=%s", mediaType, group, version, p.kind))
	_, _ = w.Write(data)
}

// negotiate returns the media type of the answer, and the version of the object, which a text has none of.
func (p page) negotiate(accept string) (mediaType, version string, err error) {
	if strings.TrimSpace(accept) == "" {
		return plainText, "", nil
	}
	for _, clause := range goautoneg.ParseAccept(accept) {
		for _, known := range mediaTypes {
			main, sub, _ := strings.Cut(known, "/")
			if clause.Type != "*" && clause.Type != main || clause.SubType != "*" && clause.SubType != sub {
				continue
			}
			as, asked := clause.Params["as"]
			version := clause.Params["v"]
			_, served := versions[version]
			switch {
			case known == plainText && !asked:
				return known, "", nil
			case known != plainText && as == p.kind && clause.Params["g"] == group && served:
				return known, version, nil
			}
		}
	}
	return "", "", negotiation.NotAcceptable(mediaTypes...)
}
