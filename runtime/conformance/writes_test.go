//go:build peer

package conformance

// written is a flunder w as clients write it: more of its metadata, and its spec.
func written(metadata, spec string) string {
	return `{"apiVersion":"wardle.example.com/v1beta1","kind":"Flunder","metadata":{"name":"w"` + metadata +
		`},"spec":` + spec + `}`
}

const (
	twice = `"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p","uid":"1"},{"apiVersion":"v1",` +
		`"kind":"Pod","name":"p","uid":"1"}]`
	w = "$NS/flunders/w"

	unconditional = "upstream's kinds want a version on every update"
)

// writes come one behind another: what clients may not set, set twice, or set while the object is on its way out.
var writes = []request{
	{"POST", "$NS/flunders", jsonType, written(`,"generateName":"g-","uid":"mine","generation":7,`+
		`"creationTimestamp":"2020-01-01T00:00:00Z","deletionTimestamp":"2020-01-01T00:00:00Z",`+
		`"deletionGracePeriodSeconds":5,"selfLink":"/x","managedFields":[{"manager":"x","operation":"Update",`+
		`"apiVersion":"wardle.example.com/v1beta1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{}}}],`+twice,
		`{"flunderReference":"x","referenceType":"Flunder"}`), "", ""},
	{"POST", "$NS/flunders", jsonType, written(`,"generateName":"g-"`, `{}`), "", ""},
	{"POST", "$NS/flunders", jsonType, written(`,"resourceVersion":"0"`, `{}`), "", ""},
	{"POST", "$NS/flunders?dryRun=All", jsonType, written(``, `{}`), "", ""},
	{"POST", "$NS/flunders?dryRun=All&dryRun=All", jsonType, written(``, `{}`), "", ""},
	{"POST", "$NS/flunders?dryRun=", jsonType, written(``, `{}`), "", ""},
	{"POST", "$NS/flunders?fieldManager=" + "a%00b", jsonType, written(``, `{}`), "", ""},
	{"POST", "$NS/flunders?fieldValidation=Warn", jsonType, `{"apiVersion":"wardle.example.com/v1beta1",` +
		`"kind":"Flunder","metadata":{"name":"x","nonsense":1,"name":"x"},"more":{}}`, "", ""},
	{"POST", "$NS/flunders?fieldValidation=Ignore", jsonType, `{"apiVersion":"wardle.example.com/v1beta1",` +
		`"kind":"Flunder","metadata":{"name":"y","nonsense":1,"name":"y"},"more":{}}`, "", ""},
	{"POST", "$NS/flunders", jsonType, `{"apiVersion":"wardle.example.com/v1beta1","kind":"Flunder",` +
		`"metadata":{"name":"z","ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p","uid":"1",` +
		`"controller":true},{"apiVersion":"v1","kind":"Pod","name":"q","uid":"2","controller":true}]}}`, "", ""},
	{"POST", "$NS/flunders", jsonType, `{"apiVersion":"wardle.example.com/v1beta1","kind":"Flunder",` +
		`"metadata":{"name":"z","ownerReferences":[{"apiVersion":"v1","kind":"Event","name":"p","uid":"1"}]}}`, "", ""},
	{"POST", "$NS/flunders", jsonType, `{"apiVersion":"wardle.example.com/v1beta1","kind":"Flunder",` +
		`"metadata":{"name":"z","finalizers":["orphan","foregroundDeletion"]}}`, "", ""},
	{"POST", "$NS/flunders?dryRun=All", jsonType, `{"apiVersion":"wardle.example.com/v1beta1","kind":"Flunder",` +
		`"metadata":{"name":"z","generation":-1}}`, "",
		"upstream's strategies count no generations, and take a client's"},
	{"POST", "$NS/flunders", jsonType,
		`{"apiVersion":"wardle.example.com/v1beta1","kind":"Flunder","metadata":{"name":".."}}`, "", ""},
	{"POST", "$NS/flunders", jsonType,
		`{"apiVersion":"wardle.example.com/v1beta1","kind":"Flunder","metadata":{"name":"a/b"}}`, "", ""},
	{"POST", "$NS/flunders", jsonType,
		`{"apiVersion":"wardle.example.com/v1beta1","kind":"Flunder","metadata":null}`, "", ""},
	{"POST", "$NS/flunders", jsonType, `null`, "", ""},
	{"PATCH", w, mergeType, `{"metadata":{` + twice + `}}`, "", ""},
	{"PATCH", w, mergeType, `{"metadata":{"resourceVersion":null}}`, "", unconditional},
	{"PATCH", w, mergeType, `{"metadata":{"resourceVersion":""}}`, "", unconditional},
	{"PATCH", w, mergeType, `{"metadata":{"resourceVersion":"0"}}`, "", unconditional},
	{"PATCH", w, mergeType, `{"metadata":{"uid":null,"generation":99,"deletionTimestamp":"2020-01-01T00:00:00Z",` +
		`"selfLink":"/y"}}`, "", ""},
	{"PATCH", w, mergeType, `{"metadata":{"deletionGracePeriodSeconds":3}}`, "", ""},
	{"PATCH", w, mergeType, `{"metadata":{"generateName":"other-"}}`, "", ""},
	{"PATCH", w, mergeType, `{"metadata":{"name":null}}`, "", ""},
	{"PATCH", w, mergeType, `{"metadata":{"namespace":null}}`, "", ""},
	{"PATCH", w, mergeType, `{"metadata":{"namespace":""}}`, "", ""},
	{"PATCH", w, mergeType, `{"metadata":null}`, "", ""},
	{"PATCH", w, mergeType, `{"apiVersion":null,"kind":null}`, "",
		"upstream then knows no field of the object, and warns of each"},
	{"PATCH", w + "?dryRun=All", mergeType, `{"apiVersion":"wardle.example.com/v1alpha1"}`, "",
		"upstream reads the object as one of that version, and loses what that doesn't have"},
	{"PATCH", w, mergeType, `{"metadata":{"creationTimestamp":null}}`, "", ""},
	{"PATCH", w, mergeType, `{"metadata":{"creationTimestamp":"yesterday"}}`, "", ""},
	{"PATCH", w, mergeType, `null`, "", ""},
	{"PATCH", w, mergeType, `{"a":1,"a":2}`, "", ""},
	{"PATCH", w, mergeType, `{"metadata":{"labels":{"a":"1"},"labels":{"a":"2"}}}`, "", ""},
	{"PATCH", w + "?fieldValidation=Strict", mergeType,
		`{"metadata":{"labels":{"a":"1"},"labels":{"a":"2"}},"nonsense":1}`, "", ""},
	{"PATCH", w, patchType, `[{"op":"test","path":"/metadata/labels/a","value":"nope"},{"op":"remove",` +
		`"path":"/metadata/labels"}]`, "", ""},
	{"PATCH", w, patchType, `[{"op":"test","path":"/none/at/all","value":null}]`, "", ""},
	{"PATCH", w, patchType, `[{"op":"test","path":"/metadata/none","value":null}]`, "", ""},
	{"PATCH", w, patchType, `[{"op":"test","path":"","value":{}}]`, "", ""},
	{"PATCH", w, patchType, `[{"op":"replace","path":"","value":{}}]`, "", ""},
	{"PATCH", w, patchType, `[{"op":"add","path":"/metadata/finalizers","value":["example.com/a"]},{"op":"add",` +
		`"path":"/metadata/finalizers/-","value":"example.com/b"}]`, "", ""},
	{"PATCH", w, patchType, `[{"op":"add","path":"/metadata/finalizers/9","value":"example.com/c"}]`, "", ""},
	{"PATCH", w, patchType, `[{"op":"add","path":"/metadata/finalizers/-1","value":"example.com/c"}]`, "", ""},
	{"PATCH", w, patchType, `[{"op":"move","from":"/metadata/labels","path":"/metadata/annotations"}]`, "", ""},
	{"PATCH", w, patchType, `[{"op":"copy","from":"/metadata/name","path":"/spec/flunderReference"}]`, "", ""},
	{"PATCH", w, patchType, `[{"op":"copy","from":"/none","path":"/spec/flunderReference"}]`, "", ""},
	{"PATCH", w, patchType, `[{"op":"add","path":"metadata/labels","value":{}}]`, "", ""},
	{"PATCH", w, patchType, `[{"op":"add"}]`, "", ""},
	{"PATCH", w, patchType, `[{"op":"replace","path":"/metadata/uid","value":"u"}]`, "", ""},
	{"PATCH", w, patchType, `[{"op":"remove","path":"/metadata/uid"}]`, "", ""},
	{"PATCH", w, patchType, `[{"op":"remove","path":"/metadata/name"}]`, "", ""},
	{"PATCH", w, patchType, `[{"op":"replace","path":"/metadata/name","value":3}]`, "", ""},
	{"PATCH", w, patchType, `[{"op":"add","path":"/nonsense","value":3}]`, "", ""},
	{"PATCH", w + "?fieldValidation=Strict", patchType,
		`[{"op":"add","path":"/nonsense","value":3,"extra":1}]`, "", ""},
	{"PATCH", w, patchType, `[]`, "", ""},
	{"PATCH", w, patchType, `null`, "", ""},
	{"PATCH", w, patchType, ``, "", ""},
	{"PATCH", w, smartType, `{"metadata":{"$deleteFromPrimitiveList/finalizers":["example.com/a"],` +
		`"$setElementOrder/finalizers":["example.com/b"]}}`, "", ""},
	{"PATCH", w, smartType, `{"metadata":{"labels":{"$patch":"replace","only":"this"}}}`, "", ""},
	{"PATCH", w, smartType, `{"$patch":"delete"}`, "", ""},
	{"PATCH", w + "?dryRun=All", smartType, `{"$patch":"replace","metadata":{"name":"w"}}`, "", unconditional},
	{"PATCH", w, smartType, `{"metadata":{"uid":"other"}}`, "", ""},
	{"PATCH", w, smartType, ``, "", ""},
	{"PATCH", w, smartType, `null`, "", ""},
	{"PATCH", w + "?dryRun=All", mergeType, `{"metadata":{"labels":{"dry":"run"}}}`, "", ""},
	{"PATCH", w + "?dryRun=None", mergeType, `{}`, "", ""},
	{"GET", w, "", "", "", ""},
	// Two who apply, in two versions.
	{"PATCH", w + "?fieldManager=m", applyType, written(`,"labels":{"m":"1"},"finalizers":["example.com/b"]`,
		`{"flunderReference":"w"}`), "", ""},
	{"PATCH", "$OLD/flunders/w?fieldManager=o", applyType, `{"apiVersion":"wardle.example.com/v1alpha1",` +
		`"kind":"Flunder","metadata":{"name":"w","labels":{"m":"2"}},"spec":{"reference":"o"}}`, "", ""},
	{"PATCH", "$OLD/flunders/w?fieldManager=o", applyType,
		`{"apiVersion":"wardle.example.com/v1alpha1","kind":"Flunder","metadata":{"name":"w"},` +
			`"spec":{"reference":"w"}}`, "", ""},
	{"PATCH", w + "?fieldManager=m", applyType, written(``, `{}`), "", ""},
	{"PATCH", w + "?fieldManager=m", applyType, written(`,"generateName":"other-"`, `{}`), "", ""},
	{"PATCH", w + "?fieldManager=m", applyType, written(`,"uid":"other"`, `{}`), "", ""},
	{"PATCH", w + "?fieldManager=m", applyType, written(`,"creationTimestamp":null`, `{}`), "", ""},
	{"PATCH", w + "?fieldManager=m", applyType, written(`,"deletionTimestamp":"2020-01-01T00:00:00Z"`, `{}`), "", ""},
	{"PATCH", w + "?fieldManager=m", applyType, written(`,"managedFields":null`, `{}`), "", ""},
	{"PATCH", w + "?fieldManager=m", applyType, written(`,`+twice, `{}`), "",
		"upstream calls what the client did an error of its own"},
	{"PATCH", w + "?fieldManager=m", applyType, written(`,"labels":{"a":null}`, `{}`), "", ""},
	{"PATCH", w + "?fieldManager=m", applyType, written(`,"namespace":"elsewhere"`, `{}`), "", ""},
	{"PATCH", w + "?fieldManager=", applyType, written(``, `{}`), "", ""},
	{"PATCH", "$OLD/flunders/w", mergeType, `{"metadata":{"managedFields":[]}}`, "", ""},
	{"PATCH", w, mergeType, `{"metadata":{"managedFields":[{"manager":"x","operation":"Apply",` +
		`"apiVersion":"wardle.example.com/v9","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{}}}]}}`, "", ""},
	{"PATCH", w, mergeType, `{"metadata":{"managedFields":[{"manager":"x","operation":"Some",` +
		`"apiVersion":"wardle.example.com/v1beta1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{}}}]}}`, "", ""},
	{"PATCH", w, mergeType, `{"metadata":{"managedFields":[{}]}}`, "", ""},
	// Patches by odd directives, and bodies in odd shapes.
	{"PATCH", w, smartType, `{"metadata":{"ownerReferences":[{"$patch":"replace"},{"apiVersion":"v1","kind":"Pod",` +
		`"name":"q","uid":"2"}]}}`, "", ""},
	{"PATCH", w, smartType, `{"metadata":{"ownerReferences":[{"uid":"3"}]}}`, "", "upstream names each cause twice"},
	{"PATCH", w, smartType, `{"metadata":{"ownerReferences":[{"name":"nouid"}]}}`, "",
		"upstream names each cause twice"},
	{"PATCH", w, smartType, `{"metadata":{"$setElementOrder/ownerReferences":[{"uid":"2"},{"uid":"9"}]}}`, "", ""},
	{"PATCH", w, smartType, `{"metadata":{"annotations":null,"labels":{"a":null,"b":"1"}}}`, "", ""},
	{"PATCH", w, smartType, `{"metadata":{"finalizers":null}}`, "", ""},
	{"PATCH", w, smartType, `{"metadata":{"managedFields":[{"manager":"one"}]}}`, "", ""},
	{"PATCH", w, smartType, `{"metadata":{"labels":[]}}`, "", ""},
	{"PATCH", w, smartType, `{"metadata":{"labels":{"a":1}}}`, "", ""},
	{"PATCH", w, mergeType, `{"metadata":{"labels":{"a":1}}}`, "", ""},
	{"PATCH", w, mergeType, `{"metadata":{"labels":[]}}`, "", ""},
	{"PATCH", w, mergeType, `{"metadata":{"labels":{"a":"1","b":{"c":null}}}}`, "", ""},
	{"PATCH", w, mergeType, `{"metadata":[]}`, "", ""},
	{"PATCH", w, mergeType, `{"spec":null}`, "", ""},
	{"PATCH", w, mergeType, `{"spec":{"flunderReference":"w","referenceType":"Flunder"}}`, "", ""},
	{"PATCH", w, mergeType, `{"spec":"x"}`, "", ""},
	{"PATCH", w, mergeType, `{"":1}`, "", ""},
	{"PATCH", w, mergeType, `{"Metadata":{"labels":{"case":"1"}}}`, "", ""},
	{"PATCH", w + "?fieldManager=" + "me%2Fyou", mergeType, `{"metadata":{"labels":{"by":"me"}}}`, "", ""},
	{"PATCH", w + "?fieldValidation=Ignore", mergeType,
		`{"metadata":{"labels":{"by":"me"}},"nonsense":1,"nonsense":2}`, "", ""},
	{"PATCH", w + "?fieldValidation=Strict", smartType,
		`{"metadata":{"labels":{"by":"me"},"labels":{"by":"me"}}}`, "", ""},
	{"PATCH", w + "?fieldManager=m", applyType, "apiVersion: wardle.example.com/v1beta1\nkind: Flunder\n" +
		"metadata: {name: w, labels: {a: 1}}\n", "", "upstream calls what the client did an error of its own"},
	{"PATCH", w + "?fieldManager=m", applyType,
		"apiVersion: wardle.example.com/v1beta1\nkind: Flunder\nmetadata: {name: w}\n---\napiVersion: v1\n", "", ""},
	{"PATCH", w + "?fieldManager=m", applyType,
		"apiVersion: wardle.example.com/v1beta1\nkind: Flunder\nmetadata: &m {name: w}\n", "", ""},
	{"PATCH", w + "?fieldManager=m", applyType, written(`,"finalizers":["unqualified"]`, `{}`), "", ""},
	{"PATCH", w + "?fieldManager=m", applyType, written(`,"finalizers":["example.com/b","example.com/b"]`, `{}`), "",
		"upstream calls what the client did an error of its own"},
	{"PATCH", w + "?fieldManager=m&force=true&dryRun=All", applyType,
		written(``, `{"flunderReference":"forced"}`), "", ""},
	{"PATCH", w + "?fieldManager=m", applyType, written(``, `null`), "", ""},
	{"PATCH", w + "?fieldManager=m", applyType, written(``, `{"flunderReference":null}`), "", ""},
	{"PATCH", w + "?fieldManager=m", applyType,
		written(`,"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{}"}`, `{}`), "", ""},
	{"GET", w, "", "", "", ""},
	// On its way out.
	{"PATCH", w, mergeType, `{"metadata":{"finalizers":["example.com/a","example.com/b"]}}`, "", ""},
	{"DELETE", w + "?dryRun=All", "", "", "", ""},
	{"DELETE", w + "?gracePeriodSeconds=-1", "", "", "", ""},
	{"DELETE", w + "?gracePeriodSeconds=0", "", "", "", ""},
	{"DELETE", w + "?gracePeriodSeconds=x", "", "", "", ""},
	{"DELETE", w, jsonType, `{"preconditions":{"uid":""}}`, "", ""},
	{"DELETE", w, jsonType, `{"preconditions":{"resourceVersion":""}}`, "", ""},
	{"DELETE", w, jsonType, `{"dryRun":["Some"]}`, "", ""},
	{"DELETE", w, jsonType, `{"orphanDependents":false}`, "", ""},
	{"DELETE", w, jsonType, `{"propagationPolicy":"Foreground","dryRun":["All"]}`, "", ""},
	{"DELETE", w, jsonType, `{"propagationPolicy":"Orphan","dryRun":["All"]}`, "", ""},
	{"DELETE", w, jsonType, `{"nonsense":1}`, "", ""},
	{"DELETE", w + "?propagationPolicy=Background", jsonType, `{}`, "", ""},
	{"POST", "$NS/flunders", jsonType, written(``, `{}`), "", ""},
	{"PATCH", w, mergeType, `{"metadata":{"deletionTimestamp":null,"deletionGracePeriodSeconds":null}}`, "", ""},
	{"PATCH", w, mergeType, `{"metadata":{"deletionGracePeriodSeconds":5}}`, "", ""},
	{"PATCH", w, mergeType, `{"metadata":{"deletionTimestamp":"2030-01-01T00:00:00Z"}}`, "", ""},
	{"PATCH", w, mergeType, `{"metadata":{"finalizers":["example.com/a","example.com/b","example.com/c"]}}`, "", ""},
	{"PATCH", w, mergeType, `{"metadata":{"finalizers":["example.com/b"],"labels":{"late":"1"}}}`, "", ""},
	{"PATCH", w + "?dryRun=All", mergeType, `{"metadata":{"finalizers":null}}`, "", ""},
	{"PATCH", w + "?fieldManager=late", applyType, written(`,"labels":{"late":"2"}`, `{}`), "", ""},
	{"PATCH", w, mergeType, `{"metadata":{"finalizers":[]}}`, "", ""},
	{"PATCH", w, mergeType, `{"metadata":{"finalizers":[]}}`, "", ""},
	{"PATCH", w + "?fieldManager=m", applyType, written(`,"uid":"gone"`, `{}`), "", ""},
	{"PATCH", w + "?fieldManager=m", applyType, written(`,"generateName":"x-","resourceVersion":"7"`, `{}`), "", ""},
	{"DELETE", "$NS/flunders?dryRun=All", "", "", "", ""},
	{"DELETE", "$NS/flunders?fieldSelector=metadata.name%3Dw&gracePeriodSeconds=0", "", "", "", ""},
	{"DELETE", "$NS/flunders?fieldSelector=metadata.name%3Dx", jsonType, `{"preconditions":{"uid":"nobody"}}`, "", ""},
	{"DELETE", "$NS/flunders?limit=1", "", "", "", "how a list goes on is each server's own"},
	{"DELETE", "$NS/flunders?propagationPolicy=Orphan", "", "", "", ""},
}
