import { Heading } from "../ui/layout.tsx";

export function Faults() {
  return <Heading title="Faults and clock" />;
}
