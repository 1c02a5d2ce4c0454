// The Vercel AI SDK as a client: an agent's loop, whole and streamed; prints what it got as JSON.
// node ai_client.mjs BASE_URL MODEL …
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";

const [baseURL, ...models] = process.argv.slice(2);
const provider = createOpenAICompatible({ name: "gateway", baseURL, apiKey: "k" });
const got = {};
for (const model of models) {
  const asked = [];
  const add = tool({
    description: "Adds",
    inputSchema: jsonSchema({ type: "object", properties: { a: { type: "integer" } } }),
    execute: async (input) => (asked.push(input), "2"),
  });
  const request = { model: provider(model), tools: { add }, stopWhen: stepCountIs(3), maxRetries: 0 };
  const whole = await generateText({ ...request, prompt: "1+1?" });
  const stream = streamText({ ...request, prompt: "1+1?" });
  got[model] = { asked, whole: whole.text, streamed: await stream.text };
  const thoughts = async (steps) => (await steps).map((step) => step.reasoningText ?? "").join("");
  got[model].thoughts = [await thoughts(whole.steps), await thoughts(stream.steps)];
}
console.log(JSON.stringify(got));
