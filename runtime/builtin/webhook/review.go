package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"apigen.dev/runtime/admission"
	"apigen.dev/runtime/auth"
	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
)

// reviewVersions are the versions of reviews that webhooks can be sent. They have the same fields.
var reviewVersions = []string{"v1", "v1beta1"}

// question is a review that a hook is sent.
type question struct {
	kind schema.GroupVersionKind
	uid  types.UID
	json []byte
}

func newQuestion(h *hook, a *admission.Attributes, form admission.Form) (*question, error) {
	i := slices.IndexFunc(h.AdmissionReviewVersions, func(version string) bool {
		return slices.Contains(reviewVersions, version)
	})
	if i < 0 {
		return nil, errors.New("webhook does not accept known AdmissionReview versions (v1, v1beta1)")
	}
	version := schema.GroupVersion{Group: admissionv1.GroupName, Version: h.AdmissionReviewVersions[i]}
	q := &question{kind: version.WithKind("AdmissionReview"), uid: uuid.NewUUID()}
	asked, err := requestOf(a, form)
	if err != nil {
		return nil, err
	}
	asked.UID = q.uid
	review := admissionv1.AdmissionReview{Request: asked}
	review.SetGroupVersionKind(q.kind)
	q.json, err = json.Marshal(&review)
	return q, err
}

func requestOf(a *admission.Attributes, form admission.Form) (asked *admissionv1.AdmissionRequest, err error) {
	kind, resource := metav1.GroupVersionKind(a.Kind), metav1.GroupVersionResource(a.Resource)
	asked = &admissionv1.AdmissionRequest{
		Kind: metav1.GroupVersionKind(form.Kind), Resource: metav1.GroupVersionResource(form.Resource),
		SubResource: a.Subresource, RequestKind: &kind, RequestResource: &resource, RequestSubResource: a.Subresource,
		Name: a.Name, Namespace: a.Namespace, Operation: admissionv1.Operation(a.Operation), UserInfo: userOf(a.User),
		DryRun: &a.DryRun, Options: runtime.RawExtension{Object: a.Options},
	}
	if asked.Object.Raw, err = jsonOf(a.Object, form.Kind); err != nil {
		return nil, err
	}
	asked.OldObject.Raw, err = jsonOf(a.Old, form.Kind)
	return asked, err
}

func jsonOf(o admission.Object, kind schema.GroupVersionKind) ([]byte, error) {
	if o == nil {
		return nil, nil
	}
	return o.JSON(kind)
}

func userOf(user *auth.User) authenticationv1.UserInfo {
	if user == nil {
		return authenticationv1.UserInfo{}
	}
	info := authenticationv1.UserInfo{Username: user.Name, UID: user.UID, Groups: user.Groups}
	for key, values := range user.Extra {
		if info.Extra == nil {
			info.Extra = map[string]authenticationv1.ExtraValue{}
		}
		info.Extra[key] = values
	}
	return info
}

// check returns the answer in a review that came back, unless it is not a valid answer to the question.
func (q *question) check(review *admissionv1.AdmissionReview, mutating bool) (*admissionv1.AdmissionResponse, error) {
	answer := review.Response
	if answer == nil {
		return nil, errors.New("webhook response was absent")
	}
	if q.kind.Version == "v1beta1" { // what it says beside its decision was never checked
		answer.PatchType = nil
		if !mutating {
			answer.Patch = nil
		}
		if len(answer.Patch) > 0 {
			answer.PatchType = new(admissionv1.PatchTypeJSONPatch)
		}
		return answer, nil
	}
	if answer.UID != q.uid {
		return nil, fmt.Errorf("expected response.uid=%q, got %q", q.uid, answer.UID)
	}
	if got := review.GroupVersionKind(); got != q.kind {
		return nil, fmt.Errorf("expected webhook response of %v, got %v", q.kind, got)
	}
	return answer, checkPatch(answer, mutating)
}

func checkPatch(answer *admissionv1.AdmissionResponse, mutating bool) error {
	switch hasPatch, hasType := len(answer.Patch) > 0, answer.PatchType != nil; {
	case !mutating && hasPatch:
		return errors.New("validating webhook may not return response.patch")
	case !mutating && hasType:
		return errors.New("validating webhook may not return response.patchType")
	case hasPatch && !hasType:
		return errors.New("webhook returned response.patch but not response.patchType")
	case hasType && !hasPatch:
		return errors.New("webhook returned response.patchType but not response.patch")
	case hasType && *answer.PatchType == "":
		return fmt.Errorf("webhook returned invalid response.patchType of %q", *answer.PatchType)
	}
	return nil
}

// note adds what an answer says beside its decision to the request.
func note(ctx context.Context, h *hook, a *admission.Attributes, answer *admissionv1.AdmissionResponse) {
	for key, value := range answer.AuditAnnotations {
		a.Annotate(ctx, h.Name+"/"+key, value)
	}
	for _, warning := range answer.Warnings {
		a.Warn(warning)
	}
}
