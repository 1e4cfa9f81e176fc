// Answers each line of JSON with one: what the client in Go makes of it.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"time"

	"quittance"
)

type question struct {
	Do         string            `json:"do"`
	Body       []byte            `json:"body"`
	Headers    map[string]string `json:"headers"`
	Keys       map[string]string `json:"keys"`
	Now        int64             `json:"now"`
	Clock      string            `json:"clock"`
	BaseURL    string            `json:"base_url"`
	APIKey     string            `json:"api_key"`
	Timeout    float64           `json:"timeout"`
	MaxRetries int               `json:"max_retries"`
	Arguments  []json.RawMessage `json:"arguments"`
}

func verify(asked question) map[string]any {
	header := http.Header{}
	for name, value := range asked.Headers {
		header.Set(name, value)
	}
	now := time.Unix(asked.Now, 0)
	if asked.Clock != "" {
		// Go's times are whole numbers: what can be missing is the time itself.
		now = time.Time{}
	}
	event, err := quittance.VerifyWebhook(asked.Body, header, asked.Keys, now)
	if configuration := quittance.ErrConfiguration(""); errors.As(err, &configuration) {
		return map[string]any{"configuration": err.Error()}
	}
	if err != nil {
		return map[string]any{"problem": err.Error()}
	}
	return map[string]any{"value": event.EventID}
}

func call(asked question) map[string]any {
	client := quittance.New(asked.BaseURL, asked.APIKey)
	client.HTTP.Timeout = time.Duration(asked.Timeout * float64(time.Second))
	client.MaxRetries = asked.MaxRetries
	var value any
	var err error
	switch asked.Do {
	case "create":
		var creation quittance.Creation
		if err := json.Unmarshal(asked.Arguments[0], &creation); err != nil {
			panic(err)
		}
		key := ""
		if len(asked.Arguments) > 1 {
			key = text(asked.Arguments[1])
		}
		value, err = client.CreatePayment(context.Background(), creation, key)
	case "details":
		value, err = client.GetPaymentDetails(context.Background(), text(asked.Arguments[0]))
	case "put_pool":
		var change quittance.WalletPoolChange
		if err := json.Unmarshal(asked.Arguments[1], &change); err != nil {
			panic(err)
		}
		value, err = client.PutWalletPool(context.Background(), text(asked.Arguments[0]), change)
	case "pool":
		value, err = client.GetWalletPool(context.Background(), text(asked.Arguments[0]))
	case "status":
		value, err = client.GetPublicStatus(context.Background(), text(asked.Arguments[0]))
	}
	failure := new(quittance.Error)
	if errors.As(err, &failure) {
		return map[string]any{"error": map[string]any{
			"code":            failure.Code,
			"status":          failure.Status,
			"retry_after":     failure.RetryAfter.Seconds(),
			"idempotency_key": failure.IdempotencyKey,
			"message":         failure.Message,
		}}
	}
	if err != nil {
		panic(err)
	}
	return map[string]any{"value": value}
}

func text(raw json.RawMessage) (value string) {
	if err := json.Unmarshal(raw, &value); err != nil {
		panic(err)
	}
	return value
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	answers := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var asked question
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			panic(err)
		}
		answer := call
		if asked.Do == "verify" {
			answer = verify
		}
		if err := answers.Encode(answer(asked)); err != nil {
			panic(err)
		}
	}
}
