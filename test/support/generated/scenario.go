// Command scenario completes the scenario of test/servers/generated-clients.test.ts with the package that oapi-codegen
// generates. It asks its parent for what happens outside the API: it writes a request to standard output as a line, and
// reads a line.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
	"time"

	"stowage.test/stowage"

	"github.com/oapi-codegen/runtime/types"
)

const (
	password = "Correct-Horse-7"
	content  = "Rhine at dawn, by Go"
)

var input = bufio.NewReader(os.Stdin)

func ask(question string) string {
	fmt.Println(question)
	answer, err := input.ReadString('\n')
	check(err)
	return strings.TrimSpace(answer)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// must returns the body of a success. Any other reply ends the program.
func must[Body any](success *Body, reply []byte) Body {
	if success == nil {
		log.Fatalf("the reply was: %s", reply)
	}
	return *success
}

func until(holds func() bool) {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if holds() {
			return
		}
	}
	log.Fatal("the state that was awaited did not come")
}

func pointer[Value any](value Value) *Value { return &value }

func main() {
	ctx := context.Background()
	url, email := os.Getenv("STOWAGE_URL"), os.Getenv("EMAIL")
	public, err := stowage.NewClientWithResponses(url)
	check(err)

	registered, err := public.RegisterWithResponse(ctx, nil, stowage.Registration{Email: types.Email(email), Password: password})
	check(err)
	account := must(registered.JSON201, registered.Body).Data
	client, err := stowage.NewClientWithResponses(url, stowage.WithRequestEditorFn(func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+account.Tokens.AccessToken)
		return nil
	}))
	check(err)
	verified, err := client.ConfirmEmailVerificationWithResponse(ctx, stowage.EmailVerification{Code: ask("code " + email)})
	check(err)
	if verified.StatusCode() != http.StatusNoContent {
		log.Fatalf("the address was not verified: %s", verified.Body)
	}

	created, err := client.CreateProjectWithResponse(ctx, nil, stowage.ProjectCreation{Name: "Film"})
	check(err)
	project := must(created.JSON201, created.Body)
	ask("entitle " + project.Id.String())

	storage := bind(ctx, client, project.Id)
	asset := upload(ctx, client, project.Id, storage.Id)
	refused, media := share(ctx, client, public, project.Id, asset.Id)
	order := buy(ctx, client)

	result, err := json.Marshal(map[string]any{
		"email": account.User.Email, "project": project.Name, "storage": storage.Status, "asset": asset.Upload,
		"refused": refused.Code, "media": media, "order": order.Status,
	})
	check(err)
	fmt.Printf("done %s\n", result)
}

func bind(ctx context.Context, client *stowage.ClientWithResponses, project types.UUID) stowage.Storage {
	var binding stowage.StorageCreation
	check(binding.FromStorageCreationS3(stowage.StorageCreationS3{
		Name: "Rushes", Bucket: "rushes", Region: pointer("us-east-1"), Endpoint: pointer(os.Getenv("BUCKET_ENDPOINT")),
		Credentials: stowage.StorageKeyPair{AccessKey: "a-key", SecretKey: "a-secret"},
	}))
	bound, err := client.CreateStorageWithResponse(ctx, project, nil, binding)
	check(err)
	storage := must(bound.JSON201, bound.Body)
	tested, err := client.TestStorageWithResponse(ctx, project, storage.Id, nil, stowage.NoFields{})
	check(err)
	must(tested.JSON202, tested.Body)
	until(func() bool {
		read, err := client.GetStorageWithResponse(ctx, project, storage.Id, nil)
		check(err)
		storage = must(read.JSON200, read.Body)
		return storage.Status != stowage.StorageStatusPending && storage.Status != stowage.StorageStatusTesting
	})
	return storage
}

func upload(ctx context.Context, client *stowage.ClientWithResponses, project, storage types.UUID) stowage.Asset {
	added, err := client.AddAssetWithResponse(ctx, project, nil, stowage.AssetCreation{
		// The default storage of the project follows the test within moments.
		StorageId: &storage,
		Name: "Rhine", ObjectKey: pointer(stowage.ObjectKey("go/rhine.mp4")), MediaType: "video/mp4", Size: len(content),
	})
	check(err)
	asset := must(added.JSON201, added.Body)
	issued, err := client.IssueUploadUrlWithResponse(ctx, project, asset.Id, stowage.UploadRequest{})
	check(err)
	target := must(issued.JSON200, issued.Body)
	request, err := http.NewRequestWithContext(ctx, string(target.Method), target.Url, bytes.NewReader([]byte(content)))
	check(err)
	for name, value := range target.Headers {
		request.Header.Set(name, value)
	}
	put, err := http.DefaultClient.Do(request)
	check(err)
	check(put.Body.Close())
	confirmed, err := client.ConfirmUploadWithResponse(ctx, project, asset.Id, stowage.UploadConfirmation{})
	check(err)
	asset = must(confirmed.JSON200, confirmed.Body)
	if asset.Upload != stowage.AssetUploadComplete {
		log.Fatalf("the upload is %s", asset.Upload)
	}
	return asset
}

func share(ctx context.Context, client, public *stowage.ClientWithResponses, project, asset types.UUID) (stowage.Error, string) {
	shared, err := client.CreateShareWithResponse(ctx, project, nil, stowage.ShareCreation{Password: pointer("open sesame"), AssetId: &asset})
	check(err)
	token := *must(shared.JSON201, shared.Body).Token
	refused, err := public.VerifyShareWithResponse(ctx, token, nil, stowage.ShareVerification{Password: pointer("wrong")})
	check(err)
	opened, err := public.VerifyShareWithResponse(ctx, token, nil, stowage.ShareVerification{Password: pointer("open sesame")})
	check(err)
	media, err := http.Get(must(opened.JSON200, opened.Body).Data.Media[0].Url)
	check(err)
	text, err := io.ReadAll(media.Body)
	check(err)
	check(media.Body.Close())
	return must(refused.JSON401, refused.Body), string(text)
}

func buy(ctx context.Context, client *stowage.ClientWithResponses) stowage.OrderWithPayments {
	placed, err := client.PlaceOrderWithResponse(ctx, nil, stowage.OrderRequest{PlanId: "capacity-100g", Provider: stowage.PaymentProviderStandard})
	check(err)
	order := must(placed.JSON201, placed.Body)
	ask("pay " + order.Number)
	until(func() bool {
		read, err := client.GetOrderWithResponse(ctx, order.Id, nil)
		check(err)
		order = must(read.JSON200, read.Body)
		return order.Status == stowage.OrderStatusFulfilled
	})
	return order
}
