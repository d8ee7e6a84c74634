package v1

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// issuer signs tokens with a key that the process creates when it starts.
var issuer = sync.OnceValues(func() (ed25519.PrivateKey, error) {
	_, key, err := ed25519.GenerateKey(nil)
	return key, err
})

// Token_ServiceAccount implements serviceaccounts/token, which kubectl create token uses.
func Token_ServiceAccount(
	_ context.Context, account *corev1.ServiceAccount, in *authenticationv1.TokenRequest,
) (*authenticationv1.TokenRequest, error) {
	seconds := int64(time.Hour / time.Second)
	if in.Spec.ExpirationSeconds != nil {
		seconds = *in.Spec.ExpirationSeconds
	}
	if seconds < 600 {
		return nil, apierrors.NewBadRequest("spec.expirationSeconds: may not specify a duration less than 10 minutes")
	}
	now := time.Now()
	expires := now.Add(time.Duration(seconds) * time.Second)
	claims := map[string]any{
		"sub": fmt.Sprintf("system:serviceaccount:%s:%s", account.Namespace, account.Name), "iat": now.Unix(),
		"exp": expires.Unix(),
	}
	if len(in.Spec.Audiences) > 0 {
		claims["aud"] = in.Spec.Audiences
	}
	token, err := sign(claims)
	if err != nil {
		return nil, err
	}
	in.Status = authenticationv1.TokenRequestStatus{Token: token, ExpirationTimestamp: metav1.NewTime(expires)}
	return in, nil
}

// sign returns a JSON Web Token with the claims.
func sign(claims map[string]any) (string, error) {
	key, err := issuer()
	if err != nil {
		return "", err
	}
	body, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	encode := base64.RawURLEncoding.EncodeToString
	token := encode([]byte(`{"alg":"EdDSA","typ":"JWT"}`)) + "." + encode(body)
	return token + "." + encode(ed25519.Sign(key, []byte(token))), nil
}
