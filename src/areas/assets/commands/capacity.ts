import type { Handled } from '../../../event-sourcing/deciding/command-handler.js';
import type { CommandContext } from '../../../event-sourcing/ports/command-context.js';
import type { AssetDeps } from '../deps.js';
import { assetAggregate } from '../domain/asset/asset.js';
import type { AssetEvent } from '../domain/asset/events.js';
import { rejectAsset } from '../domain/asset/rejections.js';
import type { UserAccess } from '../../../../projections/accounts/users/reader.js';

/** A change of what an asset uses of its payer's capacity. */
interface CapacityChange {
  readonly projectId: string;
  readonly payerId: string;
  readonly assetId: string;
  /** Below 0 for less. */
  readonly bytes: number;
  /** Whether the command adds the asset. */
  readonly isNew?: boolean;
  /** The user of the request, as its gate has read it. */
  readonly by?: UserAccess | undefined;
}

/** Judges what assets use by the sums of the view (src/areas/assets/README.md#capacity), and counts what this process appends. */
export type Capacity = ReturnType<typeof makeCapacity>;

type Append = () => Promise<Handled<AssetEvent>>;

export function makeCapacity({ handler, usage, viewLags }: AssetDeps) {
  return {
    /**
     * Appends a change, unless it exceeds the capacity. A repeated command is not judged.
     * @throws CommandRejected capacity_exceeded; Overloaded while the views lag; the errors of `append`
     */
    judged: async (change: CapacityChange, context: CommandContext, append: Append) => {
      if (change.bytes > 0 || change.isNew === true) await judge(change, context);
      return counted(change.assetId, context, append);
    },
    counted,
    requireFresh,
    /** Refuses an upload while the assets of the project's payer are too large. @throws CommandRejected capacity_exceeded */
    refuseUploadBeyond: async (projectId: string) => {
      if (await usage.hasRoom(projectId)) return;
      rejectAsset(
        'capacity_exceeded',
        "the assets of the project's payer are larger than their capacity; remove some, or add capacity",
      );
    },
  };

  /** Refuses additions while the sums or the assets of the views are stale. @throws Overloaded */
  function requireFresh(): void {
    viewLags.requireFresh('usage', 'assets');
  }

  /** Appends a change that needs no capacity. @throws the errors of `append` */
  async function counted(assetId: string, context: CommandContext, append: Append) {
    const handled = await append();
    usage.appended(assetId, handled, context);
    return handled;
  }

  async function judge(
    { projectId, payerId, assetId, bytes, isNew, by }: CapacityChange,
    context: CommandContext,
  ) {
    requireFresh();
    if (bytes <= (await usage.roomOf(payerId, projectId, by))) return;
    const { state } = await handler.load(assetAggregate, assetId);
    const isRepeated =
      isNew === true
        ? state.status !== 'absent'
        : state.status === 'existing' && state.lastCommands.includes(context.commandId);
    if (isRepeated) return;
    rejectAsset(
      'capacity_exceeded',
      "the project's payer has no capacity left for this size; remove assets, or add capacity",
    );
  }
}
