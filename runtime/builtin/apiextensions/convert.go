package apiextensions

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"sync"
	"time"

	"apigen.dev/runtime/internal/host/kubeconfig"
	"apigen.dev/runtime/server"
	"github.com/google/uuid"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"
)

const (
	// answerLimit bounds the size of an answer in bytes: that of a batch, whose objects may grow.
	answerLimit = 16 << 20
	// callTimeout bounds a call, as in kube-apiserver.
	callTimeout = 30 * time.Second
)

// webhook converts objects by calling the webhook of a definition.
type webhook struct {
	version string // of the ConversionReview
	client  func() (*http.Client, string, error)
}

// newWebhook returns the converter of a definition, nil where its versions differ by name alone.
func newWebhook(crd *definition, services server.Services, log *slog.Logger) *webhook {
	c := crd.Spec.Conversion
	if c == nil || c.Strategy != apiextensionsv1.WebhookConverter || c.Webhook == nil || c.Webhook.ClientConfig == nil {
		return nil
	}
	w := &webhook{}
	for _, version := range c.Webhook.ConversionReviewVersions {
		if version == "v1" || version == "v1beta1" {
			w.version = version
			break
		}
	}
	config := c.Webhook.ClientConfig
	at := kubeconfig.Webhook{URL: config.URL, CABundle: bytes.TrimSpace(config.CABundle)}
	if s := config.Service; s != nil {
		at.Service = &kubeconfig.WebhookService{Namespace: s.Namespace, Name: s.Name, Path: s.Path, Port: s.Port}
	}
	var once sync.Once
	var client *http.Client
	var url string
	var failed error
	w.client = func() (*http.Client, string, error) {
		once.Do(func() {
			config, err := at.Config(nil, kubeconfig.Resolve(services))
			if err == nil {
				url = config.Server.String()
				client, err = config.Client(log, answerLimit)
			}
			failed = err
		})
		return client, url, failed
	}
	return w
}

// review is the ConversionReview of apiextensions.k8s.io, in both versions.
type review struct {
	metav1.TypeMeta
	Request  *request  `json:"request,omitempty"`
	Response *response `json:"response,omitempty"`
}

type request struct {
	UID               string            `json:"uid"`
	DesiredAPIVersion string            `json:"desiredAPIVersion"`
	Objects           []json.RawMessage `json:"objects"`
}

type response struct {
	UID              string            `json:"uid"`
	ConvertedObjects []json.RawMessage `json:"convertedObjects"`
	Result           metav1.Status     `json:"result"`
}

const (
	// most is how many objects one call converts, and mostBytes how many bytes they have, unless one object has more.
	most      = 1000
	mostBytes = 4 << 20
)

// Convert implements dynamic.Converter: it calls the webhook once for as many objects as one call may have. It doesn't
// call one again that let a call's time pass.
func (w *webhook) Convert(
	ctx context.Context, objects []map[string]any, to schema.GroupVersion,
) ([]map[string]any, []error) {
	out, errs := make([]map[string]any, len(objects)), make([]error, len(objects))
	var next batch
	var hangs error
	send := func() {
		for _, place := range next.places {
			errs[place] = hangs
		}
		if hangs == nil {
			err := w.convertBatch(ctx, &next, to, out, errs)
			if errors.Is(err, context.DeadlineExceeded) {
				hangs = err
			}
		}
		next = batch{}
	}
	for i, object := range objects {
		if len(object) == 2 { // an empty object is the same in all versions
			object["apiVersion"] = to.String()
			out[i] = object
			continue
		}
		data, err := json.Marshal(object)
		if err != nil {
			errs[i] = err
			continue
		}
		if len(next.objects) == most || len(next.objects) > 0 && next.size+len(data) > mostBytes {
			send()
		}
		next.add(i, object, data)
	}
	if len(next.objects) > 0 {
		send()
	}
	return out, errs
}

// batch are objects that one call converts, with their places among all.
type batch struct {
	places  []int
	objects []map[string]any
	encoded []json.RawMessage
	size    int
}

func (b *batch) add(place int, object map[string]any, data []byte) {
	b.places, b.objects = append(b.places, place), append(b.objects, object)
	b.encoded, b.size = append(b.encoded, data), b.size+len(data)
}

// convertBatch sets the results or the errors of a batch. It returns the error of the call.
func (w *webhook) convertBatch(
	ctx context.Context, b *batch, to schema.GroupVersion, out []map[string]any, errs []error,
) error {
	kind, _ := b.objects[0]["kind"].(string)
	apiVersion, _ := b.objects[0]["apiVersion"].(string)
	gvk := schema.FromAPIVersionAndKind(apiVersion, kind)
	converted, err := w.call(ctx, b.encoded, to)
	if err != nil {
		err = fmt.Errorf("conversion webhook for %v failed: %w", gvk, err)
	}
	for i, place := range b.places {
		if errs[place] = err; err != nil {
			continue
		}
		if err := check(b.objects[i], converted[i], to); err != nil {
			errs[place] = fmt.Errorf("conversion webhook for %v returned invalid object: %w", gvk, err)
		} else if err := restore(b.objects[i], converted[i]); err != nil {
			errs[place] = fmt.Errorf("conversion webhook for %v returned invalid metadata: %w", gvk, err)
		} else {
			out[place] = converted[i]
		}
	}
	return err
}

func (w *webhook) call(
	ctx context.Context, objects []json.RawMessage, to schema.GroupVersion,
) ([]map[string]any, error) {
	client, url, err := w.client()
	if err != nil {
		return nil, err
	}
	asked := review{
		TypeMeta: metav1.TypeMeta{Kind: "ConversionReview", APIVersion: "apiextensions.k8s.io/" + w.version},
		Request:  &request{UID: uuid.NewString(), DesiredAPIVersion: to.String(), Objects: objects},
	}
	answer, err := post(ctx, client, url, asked)
	if err != nil {
		return nil, err
	}
	answered, err := w.answered(answer, asked.Request.UID)
	if err != nil {
		return nil, err
	}
	if len(answered) != len(objects) {
		return nil, fmt.Errorf("returned %d objects, expected %d", len(answered), len(objects))
	}
	converted := make([]map[string]any, len(answered))
	for i, data := range answered {
		if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &converted[i]); err != nil {
			return nil, err
		}
	}
	return converted, nil
}

func post(ctx context.Context, client *http.Client, url string, asked review) (answer review, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	body, err := json.Marshal(asked)
	if err != nil {
		return answer, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return answer, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, */*")
	res, err := client.Do(r)
	if err != nil {
		return answer, err
	}
	defer func() { _ = res.Body.Close() }()
	data, err := io.ReadAll(io.LimitReader(res.Body, answerLimit+1))
	switch {
	case err != nil:
		return answer, err
	case len(data) > answerLimit:
		return answer, fmt.Errorf("the answer has more than %d bytes", answerLimit)
	case res.StatusCode < 200 || res.StatusCode > 299:
		// in client-go's words, which users of kube-apiserver know
		return answer, apierrors.NewGenericServerResponse(res.StatusCode, "post", schema.GroupResource{}, "",
			fmt.Sprintf("%.200q", data), 0, true)
	}
	return answer, json.Unmarshal(data, &answer)
}

// answered returns the objects of an answer. Version v1beta1 needs neither kind nor uid.
func (w *webhook) answered(answer review, uid string) ([]json.RawMessage, error) {
	if gvk := answer.GroupVersionKind(); w.version == "v1" {
		want := schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "ConversionReview"}
		if gvk != want {
			return nil, fmt.Errorf("expected webhook response of %v, got %v", want, gvk)
		}
	}
	switch r := answer.Response; {
	case r == nil:
		return nil, errors.New("no response provided")
	case w.version == "v1" && r.UID != uid:
		return nil, fmt.Errorf("expected response.uid=%q, got %q", uid, r.UID)
	case r.Result.Status != metav1.StatusSuccess && r.Result.Message != "":
		return nil, errors.New(r.Result.Message)
	case r.Result.Status != metav1.StatusSuccess:
		return nil, fmt.Errorf("response.result.status was '%s', not 'Success'", r.Result.Status)
	default:
		return r.ConvertedObjects, nil
	}
}

// check refuses an answer that is another object.
func check(in, out map[string]any, to schema.GroupVersion) error {
	from, made := unstructured.Unstructured{Object: in}, unstructured.Unstructured{Object: out}
	if made.GroupVersionKind().GroupVersion() != to {
		return fmt.Errorf("invalid groupVersion (expected %v, received %v)", to, made.GroupVersionKind().GroupVersion())
	}
	for _, part := range []struct{ what, in, out string }{
		{"kind", from.GetKind(), made.GetKind()}, {"name", from.GetName(), made.GetName()},
		{"namespace", from.GetNamespace(), made.GetNamespace()},
		{"UID", string(from.GetUID()), string(made.GetUID())},
	} {
		if part.in != part.out {
			return fmt.Errorf("must have the same %s: %s != %s", part.what, part.in, part.out)
		}
	}
	return nil
}

// restore gives the converted object the metadata of the original; the webhook may change labels and annotations alone.
func restore(in, out map[string]any) error {
	value, found := out["metadata"]
	if !found {
		return errors.New("missing metadata in converted object")
	}
	answered, ok := value.(map[string]any)
	if !ok {
		return fmt.Errorf("invalid metadata of type %T in converted object", value)
	}
	metadata := map[string]any{}
	if original, ok := in["metadata"].(map[string]any); ok {
		metadata = runtime.DeepCopyJSON(original)
	}
	for _, name := range []string{"labels", "annotations"} {
		changed, found := answered[name]
		if !found || changed == nil {
			delete(metadata, name)
			continue
		}
		texts, err := textsIn(name, changed)
		if err != nil {
			return err
		}
		if before, err := textsIn(name, metadata[name]); err != nil || !maps.Equal(before, texts) {
			if errs := validateTexts(name, texts); len(errs) > 0 {
				return errs.ToAggregate()
			}
		}
		metadata[name] = changed
	}
	out["metadata"] = metadata
	return nil
}

func textsIn(name string, value any) (map[string]string, error) {
	if value == nil {
		return nil, nil
	}
	members, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("invalid metadata.%s of type %T in converted object", name, value)
	}
	texts := make(map[string]string, len(members))
	for key, member := range members {
		text, ok := member.(string)
		if !ok {
			return nil, fmt.Errorf("metadata.%s[%s] must be a string, but is %T in converted object", name, key, member)
		}
		texts[key] = text
	}
	return texts, nil
}

func validateTexts(name string, texts map[string]string) field.ErrorList {
	if name == "labels" {
		return metavalidation.ValidateLabels(texts, field.NewPath("metadata", "labels"))
	}
	return apivalidation.ValidateAnnotations(texts, field.NewPath("metadata", "annotation"))
}
