package access

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"
)

// conditions asks for the condition Available of backends that answer discovery in all kinds of ways.
func conditions(t *testing.T, w *world) {
	stranger := newAuthority(t, "stranger")
	const insecure = `"insecureSkipTLSVerify":true`
	var all []*backend
	for name, c := range map[string]struct {
		signer    *authority
		discovery int
		tls       string
	}{
		"passes": {w.servers, 200, ""}, "created": {w.servers, 201, ""}, "insecure": {stranger, 200, insecure},
		"wrongcertificate": {stranger, 200, ""}, "nobundle": {w.servers, 200, `"caBundle":null`},
		"badbundle":   {w.servers, 200, `"caBundle":"` + base64.StdEncoding.EncodeToString([]byte("odd")) + `"`},
		"unreachable": {nil, 200, ""}, "code401": {w.servers, 401, ""}, "code403": {w.servers, 403, ""},
		"code404": {w.servers, 404, ""}, "code500": {w.servers, 500, ""}, "code503": {w.servers, 503, ""},
		"moved": {w.servers, 301, ""}, "hangs": {w.servers, hangs, ""}, "garbage": {w.servers, garbage, ""},
		"nocontent": {w.servers, 204, ""},
	} {
		signer := c.signer
		if signer == nil {
			signer = w.servers
		}
		b := newBackend(t, signer, name+".cond.behind.example.com", "v1")
		b.discovery.Store(int64(c.discovery))
		if c.signer != nil {
			b.start(t, true)
		}
		w.create(t, apiservices, w.service(b, "v1", 1000, 10, c.tls))
		all = append(all, b)
	}
	slices.SortFunc(all, func(a, b *backend) int { return strings.Compare(a.group, b.group) })
	for _, b := range all {
		name := strings.SplitN(b.group, ".", 2)[0]
		until(t, func() (bool, string) {
			status, text := w.condition(t, "v1."+b.group)
			w.add("condition: "+name, text)
			silent := name == "badbundle" && status == "" && !w.cluster.noServices // as kube-aggregator is
			return status == "True" || status == "False" || silent, text
		})
		code, body := w.get(t, "/apis/"+b.group+"/v1/namespaces/x/things")
		w.add("condition: "+name+", a request", fmt.Sprint(code), body)
	}
	for _, b := range all { // back again, and away by a change of the APIService
		switch name := strings.SplitN(b.group, ".", 2)[0]; name {
		case "unreachable":
			b.start(t, true)
			w.add("condition: unreachable, then back", w.untilCondition(t, "v1."+b.group, "True"))
		case "wrongcertificate":
			w.patch(t, "v1."+b.group, `{"spec":{"caBundle":null,"insecureSkipTLSVerify":true}}`)
			w.add("condition: wrongcertificate, then insecure", w.untilCondition(t, "v1."+b.group, "True"))
		case "code403":
			b.discovery.Store(200)
			w.add("condition: code403, then 200", w.untilCondition(t, "v1."+b.group, "True"))
		case "passes":
			w.patch(t, "v1."+b.group, `{"spec":{"caBundle":"`+base64.StdEncoding.EncodeToString(stranger.pem())+`"}}`)
			w.add("condition: passes, then wrong certificate", w.untilCondition(t, "v1."+b.group, "False"))
			w.patch(t, "v1."+b.group, `{"spec":{"service":null,"caBundle":null}}`)
			w.add("condition: passes, then local", w.untilCondition(t, "v1."+b.group, "True"))
			code, body := w.get(t, "/apis/"+b.group+"/v1/things")
			w.add("condition: passes, then local, a request", fmt.Sprint(code), body)
			w.cluster.ask(t, adminToken, "DELETE", apiservices+"/v1."+b.group, "")
			w.until(t, adminToken, "GET", "/apis/"+b.group+"/v1/things", "", 404, "")
			code, body = w.get(t, "/apis/"+b.group+"/v1/things")
			w.add("condition: passes, then gone, a request", fmt.Sprint(code), body)
		}
	}
}

func (w *world) get(t *testing.T, path string, header ...string) (int, string) {
	t.Helper()
	return ask(t, w.client, w.url, adminToken, "GET", path, "", header...)
}

func (w *world) patch(t *testing.T, name, patch string) (int, string) {
	t.Helper()
	return ask(t, w.client, w.url, adminToken, "PATCH", apiservices+"/"+name, patch, "Content-Type",
		"application/merge-patch+json")
}

const aggregatedType = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// pick returns of a document the part of which a group is the name.
func pick(body, list, group string) string {
	var document map[string]any
	if json.Unmarshal([]byte(body), &document) != nil {
		return body
	}
	items, _ := document[list].([]any)
	for _, item := range items {
		item, _ := item.(map[string]any)
		metadata, _ := item["metadata"].(map[string]any)
		if item["name"] == group || metadata["name"] == group {
			return compact(item)
		}
	}
	return "nothing"
}

func compact(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// described returns what the documents of the aggregator say about a group.
func (w *world) described(t *testing.T, group string) []string {
	t.Helper()
	_, apis := w.get(t, "/apis")
	code, one := w.get(t, "/apis/"+group)
	_, aggregated := w.get(t, "/apis", "Accept", aggregatedType)
	versionCode, version := w.get(t, "/apis/"+group+"/v1")
	return append([]string{
		"/apis: " + pick(apis, "groups", group), fmt.Sprintf("/apis/g: %d %s", code, one),
		"aggregated: " + pick(aggregated, "items", group), fmt.Sprintf("/apis/g/v1: %d %s", versionCode, version),
	}, w.openAPI(t, group)...)
}

func (w *world) openAPI(t *testing.T, group string) []string {
	t.Helper()
	_, v2 := w.get(t, "/openapi/v2")
	_, v3 := w.get(t, "/openapi/v3")
	var swagger struct{ Paths, Definitions map[string]any }
	var index struct{ Paths map[string]any }
	_ = json.Unmarshal([]byte(v2), &swagger)
	_ = json.Unmarshal([]byte(v3), &index)
	out := []string{}
	for path, value := range swagger.Paths {
		if strings.Contains(path, group) {
			out = append(out, "/openapi/v2: "+path+" "+compact(value))
		}
	}
	for name, value := range swagger.Definitions {
		if strings.Contains(compact(value), group) {
			out = append(out, "/openapi/v2: "+name+" "+compact(value))
		}
	}
	for path, value := range index.Paths {
		if strings.Contains(path, group) {
			out = append(out, "/openapi/v3: "+path+" "+compact(value))
		}
	}
	sort.Strings(out)
	return out
}

// describedUntil waits for a text in what the documents say.
func (w *world) describedUntil(t *testing.T, group string, wants ...string) []string {
	t.Helper()
	var lines []string
	until(t, func() (bool, string) {
		lines = w.described(t, group)
		all := strings.Join(lines, "\n")
		missing := func(want string) bool { return !strings.Contains(all, want) }
		return !slices.ContainsFunc(wants, missing), all
	})
	return lines
}

// documents asks what discovery and OpenAPI say while a backend is there, away and back.
func documents(t *testing.T, w *world) {
	there := newBackend(t, w.servers, "there.behind.example.com", "v1").start(t, true)
	w.registered(t, there, "v1", 1000, 10)
	w.add("documents: there", w.describedUntil(t, there.group, `"Current"`, "/openapi/v2: com", "/openapi/v3: ")...)
	code, body := w.get(t, "/openapi/v3/apis/"+there.group+"/v1")
	w.add("documents: there, OpenAPI v3", fmt.Sprint(code), body)

	away := newBackend(t, w.servers, "away.behind.example.com", "v1")
	w.create(t, apiservices, w.service(away, "v1", 1000, 10, ""))
	w.untilCondition(t, "v1."+away.group, "False")
	w.add("documents: away from the start", w.describedUntil(t, away.group, `"Stale"`)...)

	there.stop()
	w.untilCondition(t, "v1."+there.group, "False")
	w.add("documents: there, then away", w.describedUntil(t, there.group, `"Stale"`)...)
	code, body = w.get(t, "/openapi/v3/apis/"+there.group+"/v1")
	w.add("documents: there, then away, OpenAPI v3", fmt.Sprint(code), body)

	there.start(t, true)
	away.start(t, true)
	w.untilCondition(t, "v1."+there.group, "True")
	w.add("documents: there, away, and back",
		w.describedUntil(t, there.group, `"Current"`, "/openapi/v2: com", "/openapi/v3: ")...)
	w.untilCondition(t, "v1."+away.group, "True")
	w.add("documents: away from the start, then back",
		w.describedUntil(t, away.group, `"Current"`, "/openapi/v2: com", "/openapi/v3: ")...)

	w.cluster.ask(t, adminToken, "DELETE", apiservices+"/v1."+there.group, "")
	until(t, func() (bool, string) {
		lines := w.described(t, there.group)
		w.add("documents: deleted", lines...)
		all := strings.Join(lines, "\n")
		gone := strings.Contains(all, "/apis: nothing") && strings.Contains(all, "aggregated: nothing")
		return gone && len(lines) == 4, all
	})
}

var inOrder = regexp.MustCompile(`\.order\.behind\.example\.com`)

// order asks in which order groups and versions stand.
func order(t *testing.T, w *world) {
	groups := map[string]map[string][2]int{ // the priorities of versions
		"b": {"v1": {2000, 10}}, "a": {"v1": {2000, 10}}, "c": {"v1": {2001, 10}}, "d": {"v1": {999, 10}},
		"many": {"v1": {100, 10}, "v2": {1500, 5}, "v2beta1": {100, 10}, "v3alpha1": {100, 20}, "v10": {100, 10},
			"odd": {100, 10}},
	}
	for name, versions := range groups {
		b := newBackend(t, w.servers, name+".order.behind.example.com", "v1", "v2", "v2beta1", "v3alpha1", "v10", "odd")
		b.start(t, true)
		for version, p := range versions {
			w.registered(t, b, version, p[0], p[1])
		}
	}
	for what, header := range map[string]string{"groups": "application/json", "items": aggregatedType} {
		var body string
		until(t, func() (bool, string) {
			_, body = w.get(t, "/apis", "Accept", header)
			current := strings.Count(body, `"things"`)
			return len(inOrder.FindAllString(body, -1)) >= 5 && (what == "groups" || current >= 10) &&
				!strings.Contains(pick(body, what, "many.order.behind.example.com"), `"Stale"`), body
		})
		var document map[string]any
		_ = json.Unmarshal([]byte(body), &document)
		var lines []string
		items, _ := document[what].([]any)
		for _, item := range items {
			var group struct {
				Name             string
				Metadata         struct{ Name string }
				Versions         []struct{ Version string }
				PreferredVersion struct{ Version string }
			}
			_ = json.Unmarshal([]byte(compact(item)), &group)
			if name := group.Name + group.Metadata.Name; inOrder.MatchString(name) {
				lines = append(lines, fmt.Sprint(name, group.Versions, " prefers ", group.PreferredVersion))
			}
		}
		w.add("order: "+what, lines...)
	}
	_, body := w.get(t, "/apis/many.order.behind.example.com")
	w.add("order: a group", body)
	w.patch(t, "v2.many.order.behind.example.com", `{"spec":{"groupPriorityMinimum":100,"versionPriority":30}}`)
	w.until(t, adminToken, "GET", "/apis/many.order.behind.example.com", "", 200,
		`"preferredVersion":{"groupVersion":"many.order.behind.example.com/v2"`)
	_, body = w.get(t, "/apis/many.order.behind.example.com")
	w.add("order: a group, after a change", body)
}

// faults creates APIServices that are refused.
func faults(t *testing.T, w *world) {
	const (
		service = `"service":{"namespace":"behind","name":"odd","port":1}`
		rest    = `"groupPriorityMinimum":1,"versionPriority":1`
		valid   = `"group":"f.behind.example.com","version":"v1",` + rest
	)
	for name, object := range map[string][2]string{ // the name, and the spec
		"another name":        {"v2.f.behind.example.com", valid + "," + service},
		"no name":             {"", valid + "," + service},
		"a name with capital": {"v1.F.behind.example.com", valid + "," + service},
		"a slash":             {"v1/f", valid + "," + service},
		"no spec":             {"v1.f.behind.example.com", ""},
		"no priorities":       {"v1.f.behind.example.com", `"group":"f.behind.example.com","version":"v1",` + service},
		"priorities": {"v1.f.behind.example.com", `"group":"f.behind.example.com","version":"v1",
			"groupPriorityMinimum":20001,"versionPriority":1001,` + service},
		"negative": {"v1.f.behind.example.com", `"group":"f.behind.example.com","version":"v1",
			"groupPriorityMinimum":-1,"versionPriority":-1,` + service},
		"too great for an int32": {"v1.f.behind.example.com", `"group":"f.behind.example.com","version":"v1",
			"groupPriorityMinimum":4294967297,"versionPriority":1,` + service},
		"a text as priority": {"v1.f.behind.example.com", `"group":"f.behind.example.com","version":"v1",
			"groupPriorityMinimum":"1","versionPriority":1,` + service},
		"group": {"v1.F_", `"group":"F_","version":"v1",` + rest +
			"," + service},
		"version": {"1.f.behind.example.com", `"group":"f.behind.example.com","version":"1",` + rest + "," +
			service},
		"core v2":       {"v2.", `"version":"v2",` + rest + "," + service},
		"no version":    {".f.behind.example.com", `"group":"f.behind.example.com",` + rest + "," + service},
		"empty service": {"v1.f.behind.example.com", valid + `,"service":{}`},
		"port 0":        {"v1.f.behind.example.com", valid + `,"service":{"namespace":"a","name":"b","port":0}`},
		"port 65536":    {"v1.f.behind.example.com", valid + `,"service":{"namespace":"a","name":"b","port":65536}`},
		"odd service":   {"v1.f.behind.example.com", valid + `,"service":{"namespace":"A_","name":"../b"}`},
		"insecure and bundle": {"v1.f.behind.example.com", valid + `,"insecureSkipTLSVerify":true,"caBundle":"b2Rk",` +
			service},
		"local with bundle":  {"v1.f.behind.example.com", valid + `,"caBundle":"b2Rk"`},
		"local, insecure":    {"v1.f.behind.example.com", valid + `,"insecureSkipTLSVerify":true`},
		"bundle not base64":  {"v1.f.behind.example.com", valid + `,"caBundle":"?",` + service},
		"bundle no PEM":      {"v1.f.behind.example.com", valid + `,"caBundle":"b2Rk",` + service},
		"unknown field":      {"v1.f.behind.example.com", valid + `,"odd":1,` + service},
		"valid":              {"v1.f.behind.example.com", valid + "," + service},
		"everything at once": {"x", `"group":"","version":"v2","insecureSkipTLSVerify":true,"service":{}`},
		"spec is a list":     {"v1.f.behind.example.com", `]`},
		"group of apiservice": {"v1.apiregistration.k8s.io", `"group":"apiregistration.k8s.io","version":"v1",` + rest +
			"," + service},
	} {
		body := fmt.Sprintf(`{"apiVersion":"apiregistration.k8s.io/v1","kind":"APIService","metadata":{"name":%q},
			"spec":{%s}}`, object[0], object[1])
		code, answer := ask(t, w.client, w.url, adminToken, "POST",
			apiservices+"?dryRun=All&fieldValidation=Strict", body)
		w.add("faults: "+name, append([]string{fmt.Sprint(code)}, statusLines(answer)...)...)
	}
	for name, c := range map[string][2]string{
		"spec of a status":  {"/status", `{"spec":{"versionPriority":7}}`},
		"odd condition":     {"/status", `{"status":{"conditions":[{"type":"Odd","status":"Perhaps"}]}}`},
		"group changed":     {"", `{"spec":{"group":"g.behind.example.com"}}`},
		"status, not below": {"", `{"status":{"conditions":[{"type":"Odd","status":"True"}]}}`},
	} {
		b := &backend{group: strings.ReplaceAll(strings.ReplaceAll(name, " ", ""), ",", "") + ".f.behind.example.com"}
		b.port = 1
		w.create(t, apiservices, w.service(b, "v1", 1, 1, ""))
		w.untilCondition(t, "v1."+b.group, "False")
		code, answer := ask(t, w.client, w.url, adminToken, "PATCH", apiservices+"/v1."+b.group+c[0], c[1],
			"Content-Type", "application/merge-patch+json")
		w.add("faults: patch, "+name, append([]string{fmt.Sprint(code)}, statusLines(answer)...)...)
	}
}

// statusLines returns reason, message and causes of a Status, and the spec and conditions of an APIService.
func statusLines(body string) []string {
	var object struct {
		Kind, Reason, Message string
		Details               struct {
			Kind, Group, Name string
			Causes            []struct{ Reason, Message, Field string }
		}
		Spec map[string]any
	}
	if json.Unmarshal([]byte(body), &object) != nil {
		return []string{body}
	}
	if object.Kind != "Status" {
		delete(object.Spec, "caBundle")
		_, conditions := conditionOf(body)
		return []string{compact(object.Spec), conditions}
	}
	d := object.Details
	lines := []string{object.Reason, compact(d.Kind + " " + d.Group + " " + d.Name)}
	for _, c := range object.Details.Causes {
		lines = append(lines, fmt.Sprintf("%s %s: %s", c.Reason, c.Field, c.Message))
	}
	slices.Sort(lines[2:])
	if len(object.Details.Causes) < 2 { // with more, the message has them in an order
		lines = append(lines, object.Message)
	}
	return lines
}
