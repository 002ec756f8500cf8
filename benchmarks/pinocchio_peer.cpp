// Pinocchio's C++ routines behind a C interface: a model built from arrays, loops over states.
//
// Arrays of states lie state by state. The loops call each routine as Pinocchio's own benchmarks do, on Eigen
// vectors that exist already, so that nothing but the routine is timed.
#include <cstddef>
#include <string>
#include <vector>

#include <pinocchio/multibody.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>

namespace pin = pinocchio;
using Vector = Eigen::VectorXd;
using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct Peer
{
  pin::Model model;
  pin::Data data;
  std::vector<Vector> q, qd, x;
};

extern "C" {

// pose: 12 numbers a joint (rotation row by row, then the origin); inertia: mass, mass centre, tensor about it
// (xx, xy, yy, xz, yz, zz). parent -1 is the base.
Peer * peer_new(
  int n, const int * parent, const int * revolute, const double * pose, const double * inertia,
  const double * armature, const double * gravity)
{
  pin::Model model;
  for (int i = 0; i < n; ++i)
  {
    const double *T = pose + 12 * i, *I = inertia + 10 * i;
    const pin::SE3 place(
      Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(T), Eigen::Map<const Eigen::Vector3d>(T + 9));
    const pin::Inertia body(
      I[0], Eigen::Map<const Eigen::Vector3d>(I + 1), pin::Symmetric3(I[4], I[5], I[6], I[7], I[8], I[9]));
    const auto under = static_cast<pin::JointIndex>(parent[i] + 1);
    const std::string name = "j" + std::to_string(i);
    const pin::JointIndex joint = revolute[i] ? model.addJoint(under, pin::JointModelRZ(), place, name)
                                              : model.addJoint(under, pin::JointModelPZ(), place, name);
    model.appendBodyToJoint(joint, body, pin::SE3::Identity());
  }
  model.armature = Eigen::Map<const Vector>(armature, n);
  model.gravity.linear() = Eigen::Map<const Eigen::Vector3d>(gravity);
  return new Peer{model, pin::Data(model), {}, {}, {}};
}

void peer_states(Peer * peer, std::size_t count, const double * q, const double * qd, const double * x)
{
  const auto n = static_cast<std::size_t>(peer->model.nv);
  peer->q.clear(), peer->qd.clear(), peer->x.clear();
  for (std::size_t i = 0; i < count; ++i)
  {
    peer->q.push_back(Eigen::Map<const Vector>(q + n * i, peer->model.nv));
    peer->qd.push_back(Eigen::Map<const Vector>(qd + n * i, peer->model.nv));
    peer->x.push_back(Eigen::Map<const Vector>(x + n * i, peer->model.nv));
  }
}

// Each runs over all states; `out`, where not null, takes the results of the last.
void peer_rnea(Peer * p, double * out)
{
  for (std::size_t i = 0; i < p->q.size(); ++i)
    pin::rnea(p->model, p->data, p->q[i], p->qd[i], p->x[i]);
  if (out) Eigen::Map<Vector>(out, p->model.nv) = p->data.tau;
}

void peer_crba(Peer * p, double * out)
{
  for (std::size_t i = 0; i < p->q.size(); ++i)
    pin::crba(p->model, p->data, p->q[i], pin::Convention::WORLD);
  const auto n = p->model.nv;
  if (out) Eigen::Map<RowMatrix>(out, n, n) = p->data.M.selfadjointView<Eigen::Upper>().toDenseMatrix();
}

void peer_crba_local(Peer * p, double * out)
{
  for (std::size_t i = 0; i < p->q.size(); ++i)
    pin::crba(p->model, p->data, p->q[i], pin::Convention::LOCAL);
  const auto n = p->model.nv;
  if (out) Eigen::Map<RowMatrix>(out, n, n) = p->data.M.selfadjointView<Eigen::Upper>().toDenseMatrix();
}

void peer_aba(Peer * p, double * out)
{
  for (std::size_t i = 0; i < p->q.size(); ++i)
    pin::aba(p->model, p->data, p->q[i], p->qd[i], p->x[i], pin::Convention::WORLD);
  if (out) Eigen::Map<Vector>(out, p->model.nv) = p->data.ddq;
}

void peer_aba_local(Peer * p, double * out)
{
  for (std::size_t i = 0; i < p->q.size(); ++i)
    pin::aba(p->model, p->data, p->q[i], p->qd[i], p->x[i], pin::Convention::LOCAL);
  if (out) Eigen::Map<Vector>(out, p->model.nv) = p->data.ddq;
}

void peer_rnea_derivatives(Peer * p, double * out)
{
  for (std::size_t i = 0; i < p->q.size(); ++i)
    pin::computeRNEADerivatives(p->model, p->data, p->q[i], p->qd[i], p->x[i]);
  const auto n = p->model.nv;
  if (out)
  {
    Eigen::Map<RowMatrix>(out, n, n) = p->data.dtau_dq;
    Eigen::Map<RowMatrix>(out + n * n, n, n) = p->data.dtau_dv;
  }
}
}
