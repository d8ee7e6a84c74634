package v1

import (
	"context"
	"fmt"
	"time"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/reach"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The lifetimes of tokens, in seconds.
const (
	shortestLifetime = 10 * 60
	longestLifetime  = 1 << 32
)

// Token_ServiceAccount implements serviceaccounts/token: the server's issuer signs a token for the account. A server
// without an issuer has no such subresource.
func Token_ServiceAccount(
	ctx context.Context, account *corev1.ServiceAccount, in *authenticationv1.TokenRequest,
) (*authenticationv1.TokenRequest, error) {
	access := auth.AccessFrom(ctx)
	if access.Issuer == nil {
		return nil, apierrors.NewGenericServerResponse(404, "", schema.GroupResource{}, "", "", 0, true)
	}
	if err := matchAccount(in, account); err != nil {
		return nil, err
	}
	if len(in.Spec.Audiences) == 0 {
		in.Spec.Audiences = access.Audiences
	}
	in.Name, in.Namespace, in.UID = account.Name, account.Namespace, account.UID
	in.CreationTimestamp, in.Status = metav1.NewTime(time.Now()), authenticationv1.TokenRequestStatus{}
	if err := validateLifetime(*in.Spec.ExpirationSeconds); err != nil {
		return nil, err
	}
	bound, err := bind(ctx, account, in.Spec.BoundObjectRef)
	if err != nil {
		return nil, err
	}
	longest := int64(access.Issuer.LongestLife() / time.Second)
	if longest > 0 && *in.Spec.ExpirationSeconds > longest {
		reach.Warn(ctx, fmt.Sprintf("requested expiration of %d seconds shortened to %d seconds",
			*in.Spec.ExpirationSeconds, longest))
		in.Spec.ExpirationSeconds = &longest
	}
	token, expires, err := access.Issuer.IssueToken(ctx, auth.TokenRequest{
		Account:   auth.TokenAccount{Namespace: account.Namespace, Name: account.Name, UID: string(account.UID)},
		Audiences: in.Spec.Audiences, Seconds: *in.Spec.ExpirationSeconds, Bound: bound,
	})
	if err != nil {
		return nil, err
	}
	in.Status = authenticationv1.TokenRequestStatus{Token: token, ExpirationTimestamp: metav1.NewTime(expires)}
	return in, nil
}

var tokenRequestKind = schema.GroupKind{Group: authenticationv1.GroupName, Kind: "TokenRequest"}

// matchAccount refuses a request that names another account than its URL.
func matchAccount(in *authenticationv1.TokenRequest, account *corev1.ServiceAccount) error {
	for _, at := range []struct{ name, sent, found string }{
		{"name", in.Name, account.Name}, {"namespace", in.Namespace, account.Namespace},
	} {
		if at.sent != "" && at.sent != at.found {
			return apierrors.NewInvalid(tokenRequestKind, account.Name, field.ErrorList{field.Invalid(
				field.NewPath("metadata").Child(at.name), at.sent,
				fmt.Sprintf("must match the service account %s if specified", at.name))})
		}
	}
	if in.UID != "" && in.UID != account.UID {
		return conflict(tokenRequestKind, account.Name, "the UID in the token request (%s) does not match the UID of "+
			"the service account (%s)", in.UID, account.UID)
	}
	return nil
}

func conflict(kind schema.GroupKind, name, text string, args ...any) error {
	return apierrors.NewConflict(schema.GroupResource{Group: kind.Group, Resource: kind.Kind}, name,
		fmt.Errorf(text, args...))
}

func validateLifetime(seconds int64) error {
	var message string
	switch {
	case seconds < shortestLifetime:
		message = "may not specify a duration less than 10 minutes"
	case seconds > longestLifetime:
		message = "may not specify a duration larger than 2^32 seconds"
	default:
		return nil
	}
	return apierrors.NewInvalid(tokenRequestKind, "", field.ErrorList{
		field.Invalid(field.NewPath("spec", "expirationSeconds"), seconds, message),
	})
}

// bind finds the object with which a token is to die.
func bind(
	ctx context.Context, account *corev1.ServiceAccount, ref *authenticationv1.BoundObjectReference,
) (*auth.BoundObject, error) {
	if ref == nil {
		return nil, nil
	}
	uid, err := boundUID(ctx, account, ref)
	if err != nil {
		return nil, err
	}
	if ref.UID != "" && ref.UID != uid {
		return nil, conflict(schema.GroupKind{Kind: ref.Kind}, ref.Name, "the UID in the bound object reference (%s) "+
			"does not match the UID in record. The object might have been deleted and then recreated", ref.UID)
	}
	return &auth.BoundObject{APIVersion: ref.APIVersion, Kind: ref.Kind, Name: ref.Name, UID: string(uid)}, nil
}

func boundUID(
	ctx context.Context, account *corev1.ServiceAccount, ref *authenticationv1.BoundObjectReference,
) (types.UID, error) {
	switch kind := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind); kind.GroupKind().String() {
	case "Secret":
		secret, err := find[*corev1.Secret](ctx, account.Namespace, ref.Name, kind)
		if err != nil {
			return "", err
		}
		return secret.UID, nil
	case "Pod":
		pod, err := find[*corev1.Pod](ctx, account.Namespace, ref.Name, kind)
		if err != nil {
			return "", err
		}
		if pod.Spec.ServiceAccountName != account.Name {
			return "", apierrors.NewBadRequest(fmt.Sprintf("cannot bind token for serviceaccount %q to pod running "+
				"with different serviceaccount name.", account.Name))
		}
		return pod.UID, nil
	case "Node":
		node, err := find[*corev1.Node](ctx, "", ref.Name, kind)
		if err != nil {
			return "", err
		}
		return node.UID, nil
	default:
		return "", unbindable(kind)
	}
}

// find reads an object of a kind that the server may not serve.
func find[T metav1.Object](
	ctx context.Context, namespace, name string, kind schema.GroupVersionKind,
) (obj T, err error) {
	objects, err := reach.Of[T](ctx)
	if err != nil {
		return obj, unbindable(kind)
	}
	return objects.Get(ctx, namespace, name)
}

func unbindable(kind schema.GroupVersionKind) error {
	return apierrors.NewBadRequest("cannot bind token to object of type " + kind.String())
}
